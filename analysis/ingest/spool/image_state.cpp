// ImageBuilder's state in the trace's recorder tables: stores and restores it.
#include "analysis/ingest/rows/state_codec.h"
#include "analysis/ingest/spool/device_launches.h"
#include "analysis/ingest/spool/image_builder.h"

namespace sonde::ingest {

void ImageBuilder::save() {
  collectives_.save();
  hostMemory_.save();
  threads_.save();
  scopes_.save();
  StatePacker out;
  out.put(image_.counts);
  out.put(scopes_.nextToken());
  iterations_.packNumbers(out);
  out.put(processRows_.notFollowed());
  out.put(image_.lastNs);
  out.put(image_.seenNs);
  iterations_.packLists(out);
  scopes_.pack(out);
  image_.sink.setState(image_.spool, "builder", 0, std::string_view(out.bytes()));
}

void ImageBuilder::unpack(std::string_view blob) {
  StateUnpacker in(blob);
  image_.counts = in.get<ImageCounts>();
  const auto nextToken = in.get<std::int64_t>();
  iterations_.unpackNumbers(in);
  processRows_.restoreNotFollowed(in.get<std::uint64_t>());
  image_.lastNs = in.get<std::int64_t>();
  image_.seenNs = in.get<std::int64_t>();
  iterations_.unpackLists(in);
  scopes_.unpack(nextToken, in);
}

Result<void> ImageBuilder::restoreMaps(std::string& blob) {
  SONDE_TRY_ASSIGN(store::Statement states,
                   image_.sink.writer().database().prepare(
                       "SELECT kind, key, value FROM ingest_state WHERE spool = ?1 "
                       "ORDER BY kind, key"));  // the process, its threads, "tid"
  states.bindAll(std::string_view(image_.spool));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, states.step());
    if (!more)
      return {};
    const std::string_view kind = states.text(0);
    const auto key = static_cast<std::uint32_t>(states.integer(1));
    if (kind == "channel")
      channels_.restore(key, states.id<model::ChannelId>(2));
    else if (kind == "communicator")
      communicators_.restore(key, states.id<model::CommunicatorId>(2));
    else if (kind == CollectiveRows::kState)
      collectives_.restore(states.text(2));
    else if (kind == CollectiveRows::kLostState)
      collectives_.restoreLost({states.integer(1)});
    else if (kind == CollectiveRows::kLostPartsState)
      collectives_.restoreLostParts(static_cast<std::uint64_t>(states.integer(2)));
    else if (kind == "device")
      devices_.restoreDevice(key, states.id<model::DeviceId>(2));
    else if (kind == "stream")
      devices_.restoreStream(key, states.id<model::StreamId>(2));
    else if (kind == MemoryRows::kPoolSize || kind == MemoryRows::kPoolUsed)
      memory_.restorePool(kind, states.integer(1), states.id<model::CounterId>(2));
    else if (kind == PluginRows::kCounter)
      plugins_.restoreCounter(key, states.id<model::CounterId>(2));
    else if (kind == PluginRows::kKnown)
      plugins_.restoreKnown(key);
    else if (kind == HostMemoryRows::kEarlyReleases)
      hostMemory_.restoreEarly(states.text(2));
    else if (kind == kExternalIds)
      deviceCalls_.restoreExternalId(states.integer(1));
    else if (kind == "tid")
      threads_.restoreCalled(states.integer(1), states.id<model::ThreadId>(2));
    else if (kind == "process")
      image_.process.row.id = states.id<model::ProcessId>(2);
    else if (kind == "builder")
      blob = states.text(2);
    else if (kind == "thread")
      threads_.restore(key, states.text(2));
  }
}

Result<bool> ImageBuilder::restore() {
  std::string blob;
  SONDE_TRY(restoreMaps(blob));
  if (blob.empty())
    return false;
  SONDE_TRY(processRows_.restore());
  unpack(blob);
  SONDE_TRY(scopes_.restore());
  SONDE_TRY(memory_.restoreAllocations());
  SONDE_TRY(hostMemory_.restore());
  SONDE_TRY(stacks_.restore());
  threads_.dropEnded();
  return true;
}

}  // namespace sonde::ingest
