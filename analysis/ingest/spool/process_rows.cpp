#include "analysis/ingest/spool/process_rows.h"

#include "analysis/ingest/rows/record_walk.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

namespace sonde::ingest {

std::optional<model::ArgValue> ProcessRows::valueOf(const wire::Arg& record) {
  switch (static_cast<wire::ArgType>(record.header.detail & 0x0f)) {
    case wire::ArgType::Text:
      return image_.dictionary.text(static_cast<std::uint32_t>(record.bits));
    case wire::ArgType::Int:
      return signedOf(record.bits);
    case wire::ArgType::Double:
      return std::bit_cast<double>(record.bits);
  }
  return std::nullopt;
}

bool ProcessRows::takePlaceInJob(std::string_view key, const model::ArgValue& value) {
  const bool isRank = key == wire::kRankKey;
  const auto* text = std::get_if<std::string_view>(&value);
  if ((!isRank && key != wire::kWorldSizeKey) || text == nullptr)
    return false;
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text->data() + text->size() || number < 0)
    return false;
  model::Process& row = image_.process.row;
  (isRank ? row.rank : row.worldSize) = number;
  image_.sink.update(row);
  return true;
}

void ProcessRows::onArg(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Arg>(at);
  const model::StringId key = image_.name(record.header.subject);
  const auto value = valueOf(record);
  if (!value) {
    ++image_.counts.damaged;
    return;
  }
  if ((record.header.detail & wire::Arg::kOfProcess) != 0) {
    if (!takePlaceInJob(image_.dictionary.text(record.header.subject), *value))
      image_.addArg(model::Owner::Process, image_.process.row.id.value, key, *value);
    return;
  }
  if (record.token == 0 && thread.lastId != 0) {
    image_.addArg(thread.lastOwner, thread.lastId, key, *value);
    return;
  }
  TrackScope* scope = thread.track.find(record.token);
  if (scope == nullptr) {
    ++image_.counts.unbalanced;
    return;
  }
  image_.addArg(model::Owner::Slice, scope->slice.id.value, key, *value);
  if (const auto* number = std::get_if<std::int64_t>(&*value))
    iterations_.readArg(*scope, image_.dictionary.text(record.header.subject), *number);
}

// Does not change the thread's last record: the library inserts these by itself.
void ProcessRows::onClockSync(ImageThread&, const std::byte* at) {
  const auto record = loadRecord<wire::ClockSync>(at);
  image_.happened(record.ticks);
  model::ClockSync row;
  row.hostId = image_.process.row.hostId;
  row.processId = image_.process.row.id;
  row.ticks = signedOf(record.ticks);
  row.monotonicNs = record.monotonicNs;
  row.realtimeNs = record.realtimeNs;
  image_.sink.add(row);
}

void ProcessRows::onThreadEnd(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::ThreadEnd>(at);
  const std::int64_t endNs = image_.advance(thread, record.ticks);
  scopes_.endAll(thread, endNs);
  if (record.header.subject != 0)
    thread.name = record.header.subject;
  thread.row.endNs = endNs;
  thread.remember(model::Owner::Thread, thread.row.id.value);
}

void ProcessRows::onFork(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Fork>(at);
  calls_.addMark(thread, probeWord(wire::Probe::Process), image_.sink.intern("fork"), record.ticks);
  image_.addArg(model::Owner::Slice,
                thread.lastId,
                image_.sink.intern("child"),
                static_cast<std::int64_t>(static_cast<std::int32_t>(record.header.subject)));
}

void ProcessRows::onExec(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Exec>(at);
  calls_.addMark(thread, probeWord(wire::Probe::Process), image_.sink.intern("exec"), record.ticks);
  const auto add = [&](std::string_view key, std::uint32_t text) {
    image_.addArg(
        model::Owner::Slice, thread.lastId, image_.sink.intern(key), image_.dictionary.text(text));
  };
  add("path", record.header.subject);
  if (record.header.detail == 0)
    return;
  ++notFollowed_;
  add("not followed", record.reason);
}

Result<void> ProcessRows::restore() {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   image_.sink.writer().database().prepare(
                       fmt::format("SELECT {} FROM process WHERE id = ?1", kProcessColumns)));
  SONDE_TRY_ASSIGN(const bool found, rows.bindAll(image_.process.row.id).step());
  if (!found)
    return Error{ErrorCode::Corrupt,
                 fmt::format("the row of the process of {} is missing", image_.spool)};
  readProcess(rows, image_.process);
  return {};
}

}  // namespace sonde::ingest
