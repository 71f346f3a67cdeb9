#include "analysis/ingest/spool/channel_rows.h"

#include "analysis/ingest/rows/record_walk.h"
#include "base/utf8.h"
#include "collector/wire/definitions.h"

#include <algorithm>

namespace sonde::ingest {

bool ChannelRows::define(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(wire::ChannelDefinition))
    return false;
  const auto definition = loadRecord<wire::ChannelDefinition>(bytes.data());
  const auto kind = channelKind(static_cast<std::uint8_t>(definition.kind));
  const std::size_t addressBytes = std::size_t{definition.localBytes} + definition.remoteBytes;
  if (!kind || addressBytes > bytes.size() - sizeof definition)
    return false;
  if (rows_.contains(definition.id))
    return true;
  const std::string_view addresses(reinterpret_cast<const char*>(bytes.data()) + sizeof definition,
                                   addressBytes);
  const std::string local = toText(addresses.substr(0, definition.localBytes));
  const std::string remote = toText(addresses.substr(definition.localBytes));
  model::Channel row;
  row.processId = image_.process.row.id;
  row.kind = *kind;
  row.local = local;
  row.remote = remote;
  row.inherited = (definition.flags & wire::ChannelDefinition::kInherited) != 0;
  row.openNs = image_.time.toNs(definition.openTicks);
  row.id = image_.sink.add(row);
  rows_.emplace(definition.id, row.id);
  image_.sink.setState(image_.spool, "channel", definition.id, row.id.value);
  return true;
}

model::ChannelId ChannelRows::rowOf(std::uint32_t id) const {
  const auto found = rows_.find(id);
  return found == rows_.end() ? model::ChannelId{} : found->second;
}

void ChannelRows::onTransfer(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Transfer>(at);
  model::Transfer row;
  row.channelId = rowOf(record.header.subject);
  if (!row.channelId) {
    ++image_.counts.damaged;
    return;
  }
  row.threadId = thread.row.id;
  row.direction = (record.header.detail & wire::Transfer::kReceive) != 0 ? model::Direction::Receive
                                                                         : model::Direction::Send;
  row.exact = (record.header.detail & wire::Transfer::kInexact) == 0;
  row.offset = signedOf(record.offset);
  row.bytes = signedOf(record.bytes);
  const std::int64_t endNs = image_.advance(thread, record.endTicks);
  row.startNs = std::min(image_.time.toNs(record.beginTicks), endNs);
  row.durNs = endNs - row.startNs;
  thread.remember(model::Owner::Transfer, image_.sink.add(row).value);
}

void ChannelRows::onMessage(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Message>(at);
  const bool isOpen = record.endTicks == 0;  // then its source may still be unknown
  model::Transfer row;
  row.channelId = rowOf(record.header.subject);
  if (!row.channelId && !isOpen) {
    ++image_.counts.damaged;
    return;
  }
  const auto has = [&](std::uint8_t flag) { return (record.header.detail & flag) != 0; };
  const std::int64_t endNs = image_.endOf(thread, record.endTicks);
  row.threadId = thread.row.id;
  row.direction = has(wire::Message::kReceive) ? model::Direction::Receive : model::Direction::Send;
  row.exact = !has(wire::Message::kInexact);
  row.anySource = has(wire::Message::kAnySource);
  row.offset = signedOf(record.ordinal);
  row.bytes = signedOf(record.bytes);
  row.tag = record.tag;
  row.startNs = std::min(image_.time.toNs(record.beginTicks), endNs);
  if (record.name != 0)
    row.sliceId = calls_.add(
        thread,
        image_.newSlice(thread, model::SliceKind::Api, wire::Probe::Mpi, record.name, row.startNs),
        endNs,
        isOpen);
  if (isOpen)
    return thread.remember(model::Owner::Slice, row.sliceId.value);  // nothing was transferred
  row.durNs = endNs - row.startNs;
  thread.remember(model::Owner::Transfer, image_.sink.add(row).value);
}

}  // namespace sonde::ingest
