// TraceEventImporter: device work.
#include "analysis/ingest/import/event_kinds.h"
#include "analysis/ingest/trace_event/trace_event_importer.h"

namespace sonde::ingest {

// Device work belongs to the file's process, or its part of a merged file; its pid is the device's
// number.
std::size_t TraceEventImporter::processOf(const TraceEvent& event) {
  return isExport_ || event.phase == 'C' ? places_.processOf(event.pid)
                                         : places_.groupOf(event.pid);
}

// From the category; without one, from the event's row.
EventTable TraceEventImporter::tableOfEvent(const TraceEvent& event) {
  row_ = event.category.empty() && !isExport_ ? rows_.find(event.pid, event.tid) : nullptr;
  if (row_ == nullptr)
    return tableOf(event.category);
  if (row_->use == DeviceRow::Use::Repeats) {
    ++repeats_;
    return EventTable::Nowhere;
  }
  return deviceTableOf(event.name, event.args.taskType);
}

// The process whose correlations identify the launch.
model::ProcessId TraceEventImporter::launcherOf(const TraceEvent& event) {
  return places_.idOf(isExport_ && event.launcher.number ? places_.processOf(event.launcher)
                                                         : processOf(event));
}

// If the arguments have no stream, the thread number is the stream; -1 is the whole device.
TraceEventImporter::StreamPlace TraceEventImporter::placeOf(const TraceEvent& event) const {
  const auto first = [](OptionalNumber a, OptionalNumber b, OptionalNumber c, std::int64_t last) {
    return a ? *a : b ? *b : c.value_or(last);
  };
  if (row_ != nullptr)
    return {event.args.device.value_or(row_->device), row_->stream};
  return {first(event.args.device, event.device, event.pid.number, 0),
          first(event.args.stream, event.stream, event.tid.number, -1)};
}

// 0 means no operator.
model::OptionalInt TraceEventImporter::externalIdOf(const TraceEvent& event) noexcept {
  return event.args.externalId > 0 ? event.args.externalId : model::OptionalInt();
}

Result<model::DeviceWork> TraceEventImporter::workOf(const TraceEvent& event, std::int64_t durNs) {
  ++kept_;
  noteUnreadable(event, ValueUse::Launch);
  noteUnreadable(event, ValueUse::Device);
  model::DeviceWork work;
  const StreamPlace place = placeOf(event);
  work.streamId = places_.stream(processOf(event), place.device, place.stream);
  SONDE_TRY_ASSIGN(work.nameId, writer_.intern(event.name));
  work.startNs = *event.startNs;
  work.durNs = durNs;
  work.correlationId = event.args.correlation;
  work.graphId = event.args.graphId;
  work.graphNodeId = event.args.graphNodeId;
  work.bytes = event.args.bytes ? event.args.bytes : copyBytesOf(event.args.copyDetails);
  return work;
}

Result<void> TraceEventImporter::kernel(const TraceEvent& event, std::int64_t durNs) {
  model::Kernel row;
  row.id = writer_.reserveId<model::KernelId>();
  SONDE_TRY_ASSIGN(row.work, workOf(event, durNs));
  row.grid = {event.args.grid[0], event.args.grid[1], event.args.grid[2]};
  row.block = {event.args.block[0], event.args.block[1], event.args.block[2]};
  row.registers = event.args.registers;
  row.staticSharedBytes =  // if alone: the sum of static and dynamic
      event.args.staticSharedBytes ? event.args.staticSharedBytes : event.args.sharedBytes;
  row.dynamicSharedBytes = event.args.dynamicSharedBytes;
  row.localBytes = event.args.localBytes;
  SONDE_TRY(device_.add(row, launcherOf(event), externalIdOf(event)));
  noteUnreadable(event, ValueUse::Collective);
  collectives_[processOf(event)].add(event, row);
  return addArgs(model::Owner::Kernel, row.id.value, event.args.json);
}

Result<void> TraceEventImporter::copy(const TraceEvent& event, std::int64_t durNs) {
  model::Copy row;
  row.id = writer_.reserveId<model::CopyId>();
  SONDE_TRY_ASSIGN(row.work, workOf(event, durNs));
  row.pinned = pinnedOf(event.name);
  row.kind = copyKindOfWord(event.kind).value_or(copyKindOf(event.category, event.name));
  if (event.args.pinned)
    row.pinned = *event.args.pinned != 0;
  SONDE_TRY(device_.add(row, launcherOf(event), externalIdOf(event)));
  return addArgs(model::Owner::Copy, row.id.value, event.args.json);
}

Result<void> TraceEventImporter::sync(const TraceEvent& event, std::int64_t durNs) {
  ++kept_;
  noteUnreadable(event, ValueUse::Launch);
  noteUnreadable(event, ValueUse::Device);
  model::Sync row;
  row.id = writer_.reserveId<model::SyncId>();
  if (const StreamPlace place = placeOf(event); place.stream >= 0)
    row.streamId = places_.stream(processOf(event), place.device, place.stream);
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
  return addArgs(model::Owner::Sync, row.id.value, event.args.json);
}

}  // namespace sonde::ingest
