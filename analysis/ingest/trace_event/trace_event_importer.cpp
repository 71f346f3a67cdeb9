#include "analysis/ingest/trace_event/trace_event_importer.h"

#include "analysis/ingest/trace_event/event_kinds.h"
#include "analysis/ingest/trace_event/file_facts.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::ingest {
namespace {

// Rows of an import are committed in parts, so that the write-ahead log stays small.
constexpr std::uint64_t kCommitBytes = 64 << 20;
constexpr std::string_view kArgsKey = "args";

// Of a file that no event came out of.
Error nothingIn(const std::string& file, const EventReader::Faults& faults) {
  if (!faults.cutShort.empty())
    return {ErrorCode::Corrupt, faults.cutShort};
  if (faults.events > 0)
    return {ErrorCode::Corrupt,
            fmt::format("'{}': none of its {} events can be read; the first is {}",
                        file,
                        faults.events,
                        faults.first)};
  return {ErrorCode::Corrupt,
          fmt::format("'{}': there are no \"traceEvents\" in it: give a file that torch.profiler "
                      "wrote",
                      file)};
}

}  // namespace

TraceEventImporter::TraceEventImporter(store::TraceWriter& writer,
                                       const std::filesystem::path& scratch,
                                       std::string hostName,
                                       BytesRead bytesRead)
    : writer_(writer),
      bytesRead_(std::move(bytesRead)),
      places_(writer, std::move(hostName)),
      slices_(scratch),
      device_(scratch) {}

Result<ImportedFile> TraceEventImporter::import(ByteSource source) {
  SONDE_TRY_ASSIGN(argsKey_, writer_.intern(kArgsKey));
  const std::string file = source.path().string();
  EventReader reader(std::move(source));
  SONDE_TRY(reader.readAll(*this));
  result_.faults = reader.faults();
  if (result_.events.empty())
    return nothingIn(file, result_.faults);
  SONDE_TRY(finish());
  result_.process = places_.mainProcess();
  result_.rank = places_.rank();
  result_.worldSize = places_.worldSize();
  return std::move(result_);
}

Result<void> TraceEventImporter::progress(std::uint64_t fileBytesRead) {
  if (fileBytesRead - committed_ >= kCommitBytes) {
    committed_ = fileBytesRead;
    SONDE_TRY(writer_.commit());
    SONDE_TRY(writer_.begin());
  }
  if (bytesRead_)
    bytesRead_(fileBytesRead);
  return {};
}

Result<void> TraceEventImporter::member(std::string_view key, std::string_view json) {
  if (key == "baseTimeNanoseconds") {
    baseNs_ = baseTimeOf(json).value_or(0);
  } else if (key == "distributedInfo") {
    const DistributedInfo info = distributedInfoOf(json);
    places_.setRank(info.rank, info.worldSize);
  } else if (key == "deviceProperties") {
    for (DeviceFacts& device : devicesOf(json))
      places_.describeDevice(device.ordinal, {"gpu", std::move(device.name), device.memoryBytes});
  }
  return {};
}

TraceEventImporter::Handler TraceEventImporter::handlerOf(char phase) noexcept {
  switch (phase) {
    case 'X':
      return &TraceEventImporter::span;
    case 'i':
    case 'I':
    case 'R':
      return &TraceEventImporter::instant;
    case 's':
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
  if (handler == nullptr) {
    ++result_.notKept;
    return {};
  }
  if (event.phase != 'M' && (event.badTime || !event.startNs)) {
    ++result_.badTimes;
    return {};
  }
  return (this->*handler)(event);
}

Result<void> TraceEventImporter::span(const TraceEvent& event) {
  std::int64_t durNs = event.durNs.value_or(0);
  std::int64_t endNs = 0;
  if (durNs < 0) {
    ++result_.negative;
    durNs = 0;
  }
  if (__builtin_add_overflow(*event.startNs, durNs, &endNs)) {
    ++result_.badTimes;
    return {};
  }
  switch (tableOf(event.category)) {
    case EventTable::Slice:
      return slice(event, sliceKindOfEvent(event.category, event.name), durNs);
    case EventTable::Kernel:
      return kernel(event, durNs);
    case EventTable::Copy:
      return copy(event, durNs);
    case EventTable::Sync:
      return sync(event, durNs);
    case EventTable::Nowhere:
      ++result_.notKept;
      return {};
  }
  return {};
}

Result<void> TraceEventImporter::slice(const TraceEvent& event,
                                       model::SliceKind kind,
                                       std::int64_t durNs) {
  const ImportedPlaces::Track track = places_.track(event.pid, event.tid);
  places_.cover(track, *event.startNs, *event.startNs + durNs);
  model::Slice row;
  row.id = writer_.reserveSliceId();
  row.threadId = track.thread;
  row.kind = kind;
  row.category = event.category;
  SONDE_TRY_ASSIGN(row.nameId, writer_.intern(event.name));
  row.startNs = *event.startNs;
  row.durNs = durNs;
  row.correlationId = event.args.correlation;
  // A file's correlations are one space, whichever process its events say they are of.
  SONDE_TRY(slices_.add(row, places_.mainProcess()));
  if (kind == model::SliceKind::Iteration) {
    model::Iteration iteration;
    iteration.processId = track.process;
    iteration.number = profilerStep(event.name).value_or(0);
    iteration.startNs = row.startNs;
    iteration.durNs = durNs;
    iteration.sliceId = row.id;
    iterations_.push_back(iteration);
  }
  return addArgs(model::Owner::Slice, row.id.value, event.args);
}

Result<void> TraceEventImporter::instant(const TraceEvent& event) {
  return slice(event, model::SliceKind::Mark, 0);
}

// One row for all arguments, as JSON text: a row for each would be most of the trace.
Result<void> TraceEventImporter::addArgs(model::Owner owner,
                                         std::int64_t id,
                                         const EventArgs& args) {
  if (args.json.size() <= 2)
    return {};
  return writer_.add(model::Arg{owner, id, argsKey_, args.json});
}

// A stream that is not the one of the row's arguments is that of its thread number; -1 is all of
// the device.
model::StreamId TraceEventImporter::streamOf(const TraceEvent& event) {
  const std::int64_t device = event.args.device.value_or(event.pid.number.value_or(0));
  const std::int64_t stream = event.args.stream.value_or(event.tid.number.value_or(-1));
  return stream < 0 ? model::StreamId{} : places_.stream(device, stream);
}

Result<model::DeviceWork> TraceEventImporter::workOf(const TraceEvent& event, std::int64_t durNs) {
  model::DeviceWork work;
  const std::int64_t device = event.args.device.value_or(event.pid.number.value_or(0));
  work.streamId = places_.stream(device, event.args.stream.value_or(event.tid.number.value_or(-1)));
  SONDE_TRY_ASSIGN(work.nameId, writer_.intern(event.name));
  work.startNs = *event.startNs;
  work.durNs = durNs;
  work.correlationId = event.args.correlation;
  work.graphId = event.args.graphId;
  work.graphNodeId = event.args.graphNodeId;
  work.bytes = event.args.bytes;
  return work;
}

Result<void> TraceEventImporter::kernel(const TraceEvent& event, std::int64_t durNs) {
  model::Kernel row;
  row.id = writer_.reserveId<model::KernelId>();
  SONDE_TRY_ASSIGN(row.work, workOf(event, durNs));
  row.grid = {event.args.grid[0], event.args.grid[1], event.args.grid[2]};
  row.block = {event.args.block[0], event.args.block[1], event.args.block[2]};
  row.registers = event.args.registers;
  row.staticSharedBytes = event.args.sharedBytes;  // static and dynamic together
  SONDE_TRY(device_.add(row, places_.mainProcess()));
  collectives_.add(event, row);
  return addArgs(model::Owner::Kernel, row.id.value, event.args);
}

Result<void> TraceEventImporter::copy(const TraceEvent& event, std::int64_t durNs) {
  model::Copy row;
  row.id = writer_.reserveId<model::CopyId>();
  SONDE_TRY_ASSIGN(row.work, workOf(event, durNs));
  row.kind = copyKindOf(event.category, event.name);
  SONDE_TRY(device_.add(row, places_.mainProcess()));
  return addArgs(model::Owner::Copy, row.id.value, event.args);
}

Result<void> TraceEventImporter::sync(const TraceEvent& event, std::int64_t durNs) {
  model::Sync row;
  row.id = writer_.reserveId<model::SyncId>();
  row.streamId = streamOf(event);
  row.kind = syncKindOf(event.args.syncKind.empty() ? event.name : event.args.syncKind);
  row.eventId = event.args.eventId;
  row.startNs = *event.startNs;
  row.durNs = durNs;
  row.correlationId = event.args.correlation;
  SONDE_TRY(device_.add(row, places_.mainProcess()));
  return addArgs(model::Owner::Sync, row.id.value, event.args);
}

// From forward to backward. Arrows from launch to kernel say what the correlation says, and less
// reliably: one real trace has 3,862 starts for 8,652 ends.
Result<void> TraceEventImporter::flow(const TraceEvent& event) {
  if (event.category == "ac2g" || event.category == "async_cpu_to_gpu" || !event.id.number)
    return {};
  const ImportedPlaces::Track track = places_.track(event.pid, event.tid);
  return slices_.addFlow(
      event.category,
      *event.id.number,
      event.phase == 's' ? HostSlices::FlowEnd::Start : HostSlices::FlowEnd::Finish,
      track.thread,
      *event.startNs);
}

Result<void> TraceEventImporter::metadata(const TraceEvent& event) {
  if (event.args.name.empty())
    return {};
  if (event.name == "process_name")
    places_.nameProcess(event.pid, event.args.name);
  else if (event.name == "thread_name")
    places_.nameThread(event.pid, event.tid, event.args.name);
  return {};
}

Result<void> TraceEventImporter::finish() {
  SONDE_TRY(places_.finish(baseNs_));
  SONDE_TRY(slices_.finish(writer_, baseNs_));
  SONDE_TRY(device_.finish(writer_, slices_, baseNs_));
  for (model::Iteration& iteration : iterations_) {
    iteration.startNs += baseNs_;
    SONDE_TRY(writer_.add(iteration));
  }
  return collectives_.finish(
      writer_, places_.mainProcess(), places_.rank(), places_.worldSize(), baseNs_);
}

}  // namespace sonde::ingest
