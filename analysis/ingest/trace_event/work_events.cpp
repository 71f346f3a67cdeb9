#include "analysis/ingest/trace_event/work_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::ingest {
namespace {

// 0 means no operator.
model::OptionalInt externalIdOf(const TraceEvent& event) noexcept {
  return event.args.externalId > 0 ? event.args.externalId : model::OptionalInt();
}

}  // namespace

WorkEvents::WorkEvents(TraceEventContext& context, const std::filesystem::path& scratch)
    : context_(context), device_(scratch) {}

// Device work belongs to the file's process, or its part of a merged file; its pid is the device's
// number.
std::size_t WorkEvents::processOf(const TraceEvent& event) {
  return context_.isExport ? context_.places.processOf(event.pid)
                           : context_.places.groupOf(event.pid);
}

EventTable WorkEvents::tableOf(const TraceEvent& event) {
  row_ = event.category.empty() && !context_.isExport ? context_.rows.find(event.pid, event.tid)
                                                      : nullptr;
  if (row_ == nullptr)
    return ingest::tableOf(event.category);
  if (row_->use == DeviceRow::Use::Repeats) {
    ++repeats_;
    return EventTable::Nowhere;
  }
  return deviceTableOf(event.name, event.args.taskType);
}

// The process whose correlations identify the launch.
model::ProcessId WorkEvents::launcherOf(const TraceEvent& event) {
  return context_.places.idOf(context_.isExport && event.launcher.number
                                  ? context_.places.processOf(event.launcher)
                                  : processOf(event));
}

// If the arguments have no stream, the thread number is the stream; -1 is the whole device.
WorkEvents::StreamPlace WorkEvents::placeOf(const TraceEvent& event) const {
  const auto first = [](OptionalNumber a, OptionalNumber b, OptionalNumber c, std::int64_t last) {
    return a ? *a : b ? *b : c.value_or(last);
  };
  if (row_ != nullptr)
    return {event.args.device.value_or(row_->device), row_->stream};
  return {first(event.args.device, event.device, event.pid.number, 0),
          first(event.args.stream, event.stream, event.tid.number, -1)};
}

Result<model::DeviceWork> WorkEvents::workOf(const TraceEvent& event, std::int64_t durNs) {
  ++context_.kept;
  context_.noteUnreadable(event, ValueUse::Launch);
  context_.noteUnreadable(event, ValueUse::Device);
  model::DeviceWork work;
  const StreamPlace place = placeOf(event);
  work.streamId = context_.places.stream(processOf(event), place.device, place.stream);
  SONDE_TRY_ASSIGN(work.nameId, context_.writer.intern(event.name));
  work.startNs = *event.startNs;
  work.durNs = durNs;
  work.correlationId = event.args.correlation;
  work.graphId = event.args.graphId;
  work.graphNodeId = event.args.graphNodeId;
  work.bytes = event.args.bytes ? event.args.bytes : copyBytesOf(event.args.copyDetails);
  return work;
}

Result<void> WorkEvents::addKernel(const TraceEvent& event, std::int64_t durNs) {
  model::Kernel row;
  row.id = context_.writer.reserveId<model::KernelId>();
  SONDE_TRY_ASSIGN(row.work, workOf(event, durNs));
  row.grid = {event.args.grid[0], event.args.grid[1], event.args.grid[2]};
  row.block = {event.args.block[0], event.args.block[1], event.args.block[2]};
  row.registers = event.args.registers;
  row.staticSharedBytes =  // if alone: the sum of static and dynamic
      event.args.staticSharedBytes ? event.args.staticSharedBytes : event.args.sharedBytes;
  row.dynamicSharedBytes = event.args.dynamicSharedBytes;
  row.localBytes = event.args.localBytes;
  SONDE_TRY(device_.add(row, launcherOf(event), externalIdOf(event)));
  context_.noteUnreadable(event, ValueUse::Collective);
  collectives_[processOf(event)].add(event, row);
  return context_.addArgs(model::Owner::Kernel, row.id.value, event.args.json);
}

Result<void> WorkEvents::addCopy(const TraceEvent& event, std::int64_t durNs) {
  model::Copy row;
  row.id = context_.writer.reserveId<model::CopyId>();
  SONDE_TRY_ASSIGN(row.work, workOf(event, durNs));
  row.pinned = pinnedOf(event.name);
  row.kind = copyKindOfWord(event.kind).value_or(copyKindOf(event.category, event.name));
  if (event.args.pinned)
    row.pinned = *event.args.pinned != 0;
  SONDE_TRY(device_.add(row, launcherOf(event), externalIdOf(event)));
  return context_.addArgs(model::Owner::Copy, row.id.value, event.args.json);
}

Result<void> WorkEvents::addSync(const TraceEvent& event, std::int64_t durNs) {
  ++context_.kept;
  context_.noteUnreadable(event, ValueUse::Launch);
  context_.noteUnreadable(event, ValueUse::Device);
  model::Sync row;
  row.id = context_.writer.reserveId<model::SyncId>();
  if (const StreamPlace place = placeOf(event); place.stream >= 0)
    row.streamId = context_.places.stream(processOf(event), place.device, place.stream);
  if (event.name.ends_with("_WAIT"))
    row.kind = model::SyncKind::Wait;
  else
    row.kind = event.category == "cuda_event" || event.name.ends_with("_RECORD")
                   ? model::SyncKind::Record
                   : syncKindOf(event.args.syncKind.empty() ? event.name : event.args.syncKind);
  row.eventId = event.args.eventId;
  row.startNs = *event.startNs;
  row.durNs = durNs;
  row.correlationId = event.args.correlation;
  SONDE_TRY(device_.add(row, launcherOf(event), event.args.recordCorrelation));
  return context_.addArgs(model::Owner::Sync, row.id.value, event.args.json);
}

void WorkEvents::describeDevices() {
  for (const auto& [ordinal, kind] : context_.rows.devices()) {
    ImportedDevices::Facts device;
    device.kind = kind;
    context_.places.devices().describe("", {}, ordinal, std::move(device));
  }
}

void WorkEvents::warn() {
  if (repeats_ > 0)
    context_.account.warnings.push_back(
        fmt::format("{} events of rows that repeat the streams of devices were left out ({})",
                    repeats_,
                    fmt::join(context_.rows.repeating(), ", ")));
  if (context_.rows.lateNames() > 0)
    context_.account.warnings.push_back(fmt::format(
        "{} rows of devices are named after their events, so their events count as the host's",
        context_.rows.lateNames()));
  if (device_.ambiguous() > 0)
    context_.account.warnings.push_back(
        fmt::format("{} kernels and copies have a correlation that several processes use: their "
                    "launching calls are unknown, so they belong to no operation",
                    device_.ambiguous()));
}

Result<void> WorkEvents::finish(const TimeWindow& window) {
  SONDE_TRY(device_.finish(context_.writer, context_.slices, context_.baseNs, window));
  warn();
  SONDE_TRY_ASSIGN(auto overlaps, device_.overlaps(context_.writer, context_.baseNs));
  std::move(overlaps.begin(), overlaps.end(), std::back_inserter(context_.account.warnings));
  return {};
}

Result<void> WorkEvents::finishCollectives(const TimeWindow& window) {
  const ImportedPlaces& places = context_.places;
  for (auto& [process, collectives] : collectives_) {
    collectives.leaveOut(window);
    SONDE_TRY(collectives.finish(context_.writer,
                                 places.idOf(process),
                                 places.rankOf(process),
                                 places.worldSizeOf(process),
                                 context_.baseNs));
  }
  return {};
}

}  // namespace sonde::ingest
