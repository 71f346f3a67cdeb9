#include "analysis/ingest/trace_event/trace_event_importer.h"

#include "analysis/ingest/import/event_kinds.h"
#include "analysis/ingest/input/other_tools.h"
#include "analysis/ingest/trace_event/file_facts.h"
#include "analysis/ingest/trace_event/text_repair.h"
#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::ingest {
namespace {

constexpr std::string_view kArgsKey = "args";
constexpr std::size_t kNoArgs = 2;                  // "{}"
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
    : writer_(writer),
      bytesRead_(std::move(bytesRead)),
      storing_(std::move(storing)),
      places_(writer, std::move(hostName)),
      slices_(scratch),
      device_(scratch),
      counters_(scratch),
      open_(scratch) {}

Result<ImportedFile> TraceEventImporter::import(ByteSource source) {
  SONDE_TRY_ASSIGN(argsKey_, writer_.intern(kArgsKey));
  const std::string file = source.path().string();
  SONDE_TRY(read(std::move(source)));
  SONDE_TRY(pairOpen());
  if (result_.events.empty() || (kept_ == 0 && lost() > 0))
    return nothingIn(file);
  SONDE_TRY(finish());
  result_.kept = kept_;
  result_.process = places_.idOf(ImportedPlaces::kMain);
  noteRanks();
  return std::move(result_);
}

Result<void> TraceEventImporter::read(ByteSource source) {
  EventReader reader(std::move(source));
  reader_ = &reader;
  SONDE_TRY(reader.readAll(*this));
  reader_ = nullptr;
  const FileFaults own = std::exchange(result_.faults, reader.faults());
  if (result_.faults.events == 0)
    result_.faults.first = own.first;
  result_.faults.events += own.events;
  if (!unsupported_.empty())
    result_.warnings.push_back(fmt::format("{} events have phases that are not imported ({})",
                                           result_.unsupported,
                                           fmt::join(unsupported_, ", ")));
  return {};
}

// The number of events that are not in the trace, nor represented by others.
std::uint64_t TraceEventImporter::lost() const noexcept {
  return result_.faults.events + result_.badTimes + result_.impossible + result_.unpaired +
         result_.unsupported;
}

// The error for a file without any events.
Error TraceEventImporter::nothingIn(const std::string& file) const {
  const FileFaults& faults = result_.faults;
  if (!faults.cutShort.empty())
    return {ErrorCode::Corrupt, faults.cutShort};
  std::string what =
      "it has no \"traceEvents\", or they are empty: give a file that torch.profiler wrote";
  if (hasNodes_ && hasSchema_)
    what =
        "it is an execution trace of PyTorch: convert it with chakra_converter, and import the "
        "result";
  else if (hasGroups_ && hasEntries_)
    what = fmt::format("it {}", kFlightRecorder);
  else if (faults.events > 0)
    what = fmt::format("none of its {} events can be read; the first is {}", lost(), faults.first);
  else if (lost() > 0)
    what = fmt::format(
        "none of its {} events can be imported: {} have no readable time, {} end without a begin, "
        "{} have phases that are not imported",
        lost(),
        result_.badTimes,
        result_.unpaired,
        result_.unsupported);
  return {ErrorCode::Corrupt, fmt::format("'{}': {}", file, what)};
}

void TraceEventImporter::noteUnreadable(const TraceEvent& event, ValueUse use) {
  const UnreadableValues& values = event.args.unreadable[static_cast<std::size_t>(use)];
  for (std::uint32_t value = 0; value < values.count; ++value)
    result_.values.add([&] {
      return fmt::format("the event at byte {}, whose \"{}\" has the wrong type",
                         reader_->byteOf(event),
                         values.first);
    });
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
    isExport_ = true;
  } else if (key == "baseTimeNanoseconds") {
    const OptionalNumber base = baseTimeOf(json);
    baseNs_ = base.value_or(0);
    if (!base)
      result_.warnings.push_back(
          fmt::format("baseTimeNanoseconds {} is not a whole number of nanoseconds within ±2^61: "
                      "times are relative to the file",
                      shown(json)));
  } else if (isFacts && json.size() > kLongestFacts) {
    result_.warnings.push_back(
        fmt::format("{} has {} bytes, and profilers write at most {}: it was left out",
                    key,
                    json.size(),
                    kLongestFacts));
  } else if (key == "distributedInfo" && !isExport_) {
    DistributedInfo info = distributedInfoOf(json);
    if (!info.isReadable)
      result_.warnings.push_back(fmt::format(
          "distributedInfo {} cannot be read: the rank of the file is unknown", shown(json)));
    places_.setRank(info.rank, info.worldSize);
    collectives_[ImportedPlaces::kMain].describeGroups(std::move(info.groups));
  } else if (key == "deviceProperties") {
    for (DeviceFacts& device : devicesOf(json))
      places_.describeDevice(device.host, device.hostId, device.ordinal, std::move(device.facts));
  }
  return {};
}

TraceEventImporter::Handler TraceEventImporter::handlerOf(char phase) noexcept {
  switch (phase) {
    case 'X':
      return &TraceEventImporter::span;
    case 'B':
    case 'b':
      return &TraceEventImporter::begin;
    case 'E':
    case 'e':
      return &TraceEventImporter::end;
    case 'C':
      return &TraceEventImporter::counter;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
      return &TraceEventImporter::instant;
    case 's':
    case 't':
    case 'f':
      return &TraceEventImporter::flow;
    case 'M':
      return &TraceEventImporter::metadata;
    default:
      return nullptr;
  }
}

Result<void> TraceEventImporter::event(const TraceEvent& event) {
  const auto known = result_.events.find(event.category);
  if (known != result_.events.end())
    ++known->second;
  else
    result_.events.emplace(event.category, 1);
  const Handler handler = handlerOf(event.phase);
  if (event.phase == '\0')
    return unreadable(event, "it has no phase");
  if (handler == nullptr)
    return unsupported(event);
  if (isExport_ && event.kind == kTransfer) {
    ++result_.notKept;
    return {};
  }
  if (event.phase != 'M' && (event.badTime || !event.startNs)) {
    ++result_.badTimes;
    return {};
  }
  constexpr std::int64_t kMicro = 1000;
  hasFractions_ = hasFractions_ || event.startNs.value_or(0) % kMicro != 0;
  noteUnreadable(event, ValueUse::Event);
  constexpr std::string_view kOtherPhases = "BbEeC";  // phases with a time, besides X
  if (kOtherPhases.find(event.phase) != std::string_view::npos)
    census_.add(*event.startNs);
  if (event.hasBindId && handler != &TraceEventImporter::flow)  // the end of an arrow in version 2
    slices_.loseArrow(reader_->byteOf(event));
  return (this->*handler)(event);
}

Result<void> TraceEventImporter::unreadable(const TraceEvent& event, std::string_view why) {
  result_.faults.add(
      [&] { return fmt::format("the event at byte {}: {}", reader_->byteOf(event), why); });
  return {};
}

Result<void> TraceEventImporter::unsupported(const TraceEvent& event) {
  const bool isShown = event.phase > ' ' && event.phase <= '~';
  unsupported_.insert(isShown ? event.phase : '?');
  ++result_.unsupported;
  return {};
}

Result<void> TraceEventImporter::counter(const TraceEvent& event) {
  if (event.args.json.size() > CounterEvents::kLongestArgs)
    return unreadable(event, "its arguments are too long for a counter");
  const bool ofHost = isExport_ && event.pid.number == 0;
  const auto process = ofHost ? std::nullopt : std::optional(processOf(event));
  SONDE_TRY_ASSIGN(const CounterEvents::Added added, counters_.add(event, process));
  for (std::uint32_t value = 0; value < added.unreadable; ++value)
    result_.values.add([&] {
      return fmt::format("the counter '{}' at byte {}, with a number that cannot be read",
                         shown(event.name),
                         reader_->byteOf(event));
    });
  ++(added.any ? kept_ : result_.notKept);
  return {};
}

// One row for all arguments, as JSON text: a row for each argument would be most of the trace.
Result<void> TraceEventImporter::addArgs(model::Owner owner,
                                         std::int64_t id,
                                         std::string_view json) {
  if (json.size() <= kNoArgs)
    return {};
  const bool hasEscapes = json.find('\\') != std::string_view::npos;
  const std::string repaired = hasEscapes ? withKnownEscapes(json) : std::string();
  return writer_.add(
      model::Arg{owner, id, argsKey_, repaired.empty() ? json : std::string_view(repaired)});
}

Result<void> TraceEventImporter::metadata(const TraceEvent& event) {
  const bool ofThread = event.name == "thread_name";
  if (isExport_ && event.name == "process_name")
    places_.describeProcess(event.pid, event.args);
  if (isExport_ && ofThread && event.args.tid)
    places_.describeThread(event.pid, event.tid, *event.args.tid);
  if (ofThread || event.name == "process_name")
    noteUnreadable(event, ValueUse::Metadata);
  if (event.args.name.empty())
    return {};
  if (event.name == "process_name") {
    places_.nameProcess(event.pid, event.args.name);
    rows_.nameProcess(event.pid, event.args.name);
  } else if (ofThread) {
    places_.nameThread(event.pid, event.tid, event.args.name);
    rows_.nameThread(event.pid, event.tid, event.args.name);
  }
  return {};
}

}  // namespace sonde::ingest
