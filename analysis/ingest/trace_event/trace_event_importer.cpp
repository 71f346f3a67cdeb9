#include "analysis/ingest/trace_event/trace_event_importer.h"

#include "analysis/ingest/import/event_kinds.h"
#include "analysis/ingest/trace_event/file_facts.h"
#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::ingest {
namespace {

constexpr std::string_view kTransfer = "transfer";  // shown by an export, but not read back

// A value of the file, on one line.
std::string shown(std::string_view json) {
  constexpr std::size_t kMost = 40;
  const std::size_t end = json.find_last_not_of(" \t\r\n");
  json = json.substr(0, end == std::string_view::npos ? 0 : end + 1);
  std::string text = toText(json.substr(0, kMost));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return json.size() > kMost ? text + "…" : text;
}

}  // namespace

TraceEventImporter::TraceEventImporter(store::TraceWriter& writer,
                                       const std::filesystem::path& scratch,
                                       std::string hostName,
                                       BytesRead bytesRead,
                                       Progress storing)
    : bytesRead_(std::move(bytesRead)),
      storing_(std::move(storing)),
      context_(writer, scratch, std::move(hostName)),
      slices_(context_, scratch),
      work_(context_, scratch),
      counters_(scratch) {}

Result<ImportedFile> TraceEventImporter::import(ByteSource source) {
  SONDE_TRY(context_.begin());
  const std::string file = source.path().string();
  SONDE_TRY(read(std::move(source)));
  storing_("pairing begins with ends", 0);
  SONDE_TRY(slices_.pairOpen());
  if (context_.account.events.empty() || (context_.kept == 0 && lost() > 0))
    return nothingIn(file);
  SONDE_TRY(finish());
  context_.account.kept = context_.kept;
  context_.account.process = context_.places.idOf(ImportedPlaces::kMain);
  noteRanks();
  return std::move(context_.account);
}

Result<void> TraceEventImporter::read(ByteSource source) {
  EventReader reader(std::move(source));
  context_.reader = &reader;
  SONDE_TRY(reader.readAll(*this));
  context_.reader = nullptr;
  const FileFaults own = std::exchange(context_.account.faults, reader.faults());
  if (context_.account.faults.events == 0)
    context_.account.faults.first = own.first;
  context_.account.faults.events += own.events;
  if (!unsupported_.empty())
    context_.account.warnings.push_back(
        fmt::format("{} events have phases that are not imported ({})",
                    context_.account.unsupported,
                    fmt::join(unsupported_, ", ")));
  return {};
}

// The number of events that are not in the trace, nor represented by others.
std::uint64_t TraceEventImporter::lost() const noexcept {
  return context_.account.faults.events + context_.account.badTimes + context_.account.impossible +
         context_.account.unpaired + context_.account.unsupported;
}

// The error for a file without any events.
Error TraceEventImporter::nothingIn(const std::string& file) const {
  const FileFaults& faults = context_.account.faults;
  if (!faults.cutShort.empty())
    return {ErrorCode::Corrupt, faults.cutShort};
  std::string what =
      "it has no \"traceEvents\", or they are empty: give a file that torch.profiler wrote";
  if (hasNodes_ && hasSchema_)
    what =
        "it is an execution trace of PyTorch: convert it with chakra_converter, and import the "
        "result";
  else if (hasGroups_ && hasEntries_)
    what =
        "it looks like a dump of PyTorch's NCCL flight recorder with other data before it: give "
        "the file as PyTorch wrote it";
  else if (faults.events > 0)
    what = fmt::format("none of its {} events can be read; the first is {}", lost(), faults.first);
  else if (lost() > 0)
    what = fmt::format(
        "none of its {} events can be imported: {} have no readable time, {} end without a begin, "
        "{} have phases that are not imported",
        lost(),
        context_.account.badTimes,
        context_.account.unpaired,
        context_.account.unsupported);
  return {ErrorCode::Corrupt, fmt::format("'{}': {}", file, what)};
}

void TraceEventImporter::progress(std::uint64_t fileBytesRead) {
  if (bytesRead_)
    bytesRead_(fileBytesRead);
}

Result<void> TraceEventImporter::member(std::string_view key, std::string_view json) {
  hasNodes_ = hasNodes_ || key == "nodes";
  hasSchema_ = hasSchema_ || key == "schema";
  hasGroups_ = hasGroups_ || key == "pg_config";
  hasEntries_ = hasEntries_ || key == "entries";
  const bool isFacts = key == "distributedInfo" || key == "deviceProperties";
  if (key == "sonde") {
    context_.isExport = true;
  } else if (key == "baseTimeNanoseconds") {
    const OptionalNumber base = baseTimeOf(json);
    context_.baseNs = base.value_or(0);
    if (!base)
      context_.account.warnings.push_back(
          fmt::format("baseTimeNanoseconds {} is not a whole number of nanoseconds within ±2^61: "
                      "times are relative to the file",
                      shown(json)));
  } else if (isFacts && json.size() > kLongestFacts) {
    context_.account.warnings.push_back(
        fmt::format("{} has {} bytes, and profilers write at most {}: it was left out",
                    key,
                    json.size(),
                    kLongestFacts));
  } else if (key == "distributedInfo" && !context_.isExport) {
    DistributedInfo info = distributedInfoOf(json);
    if (!info.isReadable)
      context_.account.warnings.push_back(fmt::format(
          "distributedInfo {} cannot be read: the rank of the file is unknown", shown(json)));
    context_.places.setRank(info.rank, info.worldSize);
    work_.describeGroups(std::move(info.groups));
  } else if (key == "deviceProperties") {
    for (DeviceFacts& device : devicesOf(json))
      context_.places.devices().describe(
          device.host, device.hostId, device.ordinal, std::move(device.facts));
  }
  return {};
}

Result<void> TraceEventImporter::dispatch(const TraceEvent& event) {
  switch (event.phase) {
    case 'X':
      return span(event);
    case 'B':
    case 'b':
      return slices_.begin(event);
    case 'E':
    case 'e':
      return slices_.end(event);
    case 'C':
      return counter(event);
    case 'M':
      return metadata(event);
    case 's':
    case 't':
    case 'f':
      return slices_.flow(event);
    default:
      return slices_.instant(event);
  }
}

Result<void> TraceEventImporter::event(const TraceEvent& event) {
  constexpr std::string_view kInstants = "iIRn";
  constexpr std::string_view kFlows = "stf";
  constexpr std::string_view kOthers = "BbEeC";  // phases with a time, besides X
  ImportedFile& account = context_.account;
  const auto known = account.events.find(event.category);
  if (known != account.events.end())
    ++known->second;
  else
    account.events.emplace(event.category, 1);
  const auto isIn = [&](std::string_view phases) {
    return phases.find(event.phase) != std::string_view::npos;
  };
  if (event.phase == '\0') {
    noteUnreadable(event, "it has no phase");
    return {};
  }
  if (!isIn("XM") && !isIn(kInstants) && !isIn(kFlows) && !isIn(kOthers)) {
    const bool isShown = event.phase > ' ' && event.phase <= '~';
    unsupported_.insert(isShown ? event.phase : '?');
    ++account.unsupported;
    return {};
  }
  if (context_.isExport && event.kind == kTransfer) {
    ++account.notKept;
    return {};
  }
  if (event.phase != 'M' && (event.badTime || !event.startNs)) {
    ++account.badTimes;
    return {};
  }
  constexpr std::int64_t kMicro = 1000;
  hasFractions_ = hasFractions_ || event.startNs.value_or(0) % kMicro != 0;
  context_.noteUnreadable(event, ValueUse::Event);
  if (isIn(kOthers))
    census_.add(*event.startNs);
  if (event.hasBindId && !isIn(kFlows))  // the end of an arrow in version 2
    context_.slices.loseArrow(context_.byteOf(event));
  return dispatch(event);
}

void TraceEventImporter::noteUnreadable(const TraceEvent& event, std::string_view why) {
  context_.account.faults.add(
      [&] { return fmt::format("the event at byte {}: {}", context_.byteOf(event), why); });
}

// Profilers write 0 for a missing device time, or omit the duration.
bool TraceEventImporter::hasNoTime(const TraceEvent& event, EventTable table) const noexcept {
  if (context_.isExport || (table != EventTable::Kernel && table != EventTable::Copy))
    return false;
  const std::int64_t begin = *event.startNs;
  const std::int64_t end = begin + event.durNs.value_or(0);
  const bool isZero = end == 0 || (begin + context_.baseNs == 0 && context_.baseNs != 0) ||
                      end + context_.baseNs == 0;
  return !event.durNs || isZero;
}

Result<void> TraceEventImporter::span(const TraceEvent& event) {
  const EventTable table = work_.tableOf(event);
  if (hasNoTime(event, table)) {
    ++context_.account.impossible;
    return {};
  }
  census_.add(*event.startNs);
  std::int64_t durNs = event.durNs.value_or(0);
  if (durNs < 0) {
    ++context_.account.negative;
    durNs = 0;
  }
  if (!isTime(*event.startNs + durNs)) {
    ++context_.account.badTimes;
    return {};
  }
  switch (table) {
    case EventTable::Slice:
      return slices_.add(event, durNs);
    case EventTable::Kernel:
      return work_.addKernel(event, durNs);
    case EventTable::Copy:
      return work_.addCopy(event, durNs);
    case EventTable::Sync:
      return work_.addSync(event, durNs);
    case EventTable::Nowhere:
      ++context_.account.notKept;
      return {};
  }
  return {};
}

Result<void> TraceEventImporter::counter(const TraceEvent& event) {
  if (event.args.json.size() > CounterEvents::kLongestArgs) {
    noteUnreadable(event, "its arguments are too long for a counter");
    return {};
  }
  const bool ofHost = context_.isExport && event.pid.number == 0;
  const auto process = ofHost ? std::nullopt : std::optional(context_.places.processOf(event.pid));
  SONDE_TRY_ASSIGN(const CounterEvents::Added added, counters_.add(event, process));
  for (std::uint32_t value = 0; value < added.unreadable; ++value)
    context_.account.values.add([&] {
      return fmt::format("the counter '{}' at byte {}, with a number that cannot be read",
                         shown(event.name),
                         context_.byteOf(event));
    });
  ++(added.any ? context_.kept : context_.account.notKept);
  return {};
}

Result<void> TraceEventImporter::metadata(const TraceEvent& event) {
  const bool ofThread = event.name == "thread_name";
  if (context_.isExport && event.name == "process_name")
    context_.places.describeProcess(event.pid, event.args);
  if (context_.isExport && ofThread && event.args.tid)
    context_.places.describeThread(event.pid, event.tid, *event.args.tid);
  if (ofThread || event.name == "process_name")
    context_.noteUnreadable(event, ValueUse::Metadata);
  if (event.args.name.empty())
    return {};
  if (event.name == "process_name") {
    context_.places.nameProcess(event.pid, event.args.name);
    context_.rows.nameProcess(event.pid, event.args.name);
  } else if (ofThread) {
    context_.places.nameThread(event.pid, event.tid, event.args.name);
    context_.rows.nameThread(event.pid, event.tid, event.args.name);
  }
  return {};
}

}  // namespace sonde::ingest
