// TraceEventImporter: host slices, and arrows between them.
#include "analysis/ingest/import/event_kinds.h"
#include "analysis/ingest/trace_event/trace_event_importer.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>

namespace sonde::ingest {
namespace {

// From an export's word; else from category and name, else `ofItself`.
model::SliceKind kindOf(const TraceEvent& event, model::SliceKind ofItself) {
  if (const auto kind = model::sliceKindOf(event.kind))
    return *kind;
  const auto kind = sliceKindOfEvent(event.category, event.name);
  const bool isAsync = ofItself == model::SliceKind::Range && event.category.empty();
  const bool isByName = kind == model::SliceKind::Operator || kind == model::SliceKind::Api;
  return kind == model::SliceKind::Operation || (isAsync && isByName) ? ofItself : kind;
}

// Arrows with another name are separate, as are local ones of another process.
std::int64_t flowIdOf(const TraceEvent& event) {
  const std::string_view pid = event.idIsLocal ? event.pid.text : std::string_view();
  const std::string key = fmt::format("{}\n{}\n{}", event.id.text, pid, event.name);
  return static_cast<std::int64_t>(std::hash<std::string>()(key));
}

}  // namespace

// Profilers write 0 for a missing device time, or omit the duration.
bool TraceEventImporter::hasNoTime(const TraceEvent& event, EventTable table) const noexcept {
  if (isExport_ || (table != EventTable::Kernel && table != EventTable::Copy))
    return false;
  const std::int64_t begin = *event.startNs;
  const std::int64_t end = begin + event.durNs.value_or(0);
  const bool isZero = end == 0 || (begin + baseNs_ == 0 && baseNs_ != 0) || end + baseNs_ == 0;
  return !event.durNs || isZero;
}

Result<void> TraceEventImporter::span(const TraceEvent& event) {
  const EventTable table = tableOfEvent(event);
  if (hasNoTime(event, table)) {
    ++result_.impossible;
    return {};
  }
  census_.add(*event.startNs);
  std::int64_t durNs = event.durNs.value_or(0);
  if (durNs < 0) {
    ++result_.negative;
    durNs = 0;
  }
  if (!isTime(*event.startNs + durNs)) {
    ++result_.badTimes;
    return {};
  }
  switch (table) {
    case EventTable::Slice: {
      SONDE_TRY_ASSIGN(OpenEvent open,
                       beginSlice(event, kindOf(event, model::SliceKind::Operation)));
      return endSlice(open, durNs, event.args.json);
    }
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

Result<OpenEvent> TraceEventImporter::beginSlice(const TraceEvent& event, model::SliceKind kind) {
  ++kept_;
  if (kind == model::SliceKind::Api)  // an argument of that name elsewhere is not a launch
    noteUnreadable(event, ValueUse::Launch);
  OpenEvent open;
  open.track = places_.track(event.pid, event.tid);
  open.row.id = writer_.reserveSliceId();
  open.row.threadId = open.track.thread;
  open.row.kind = kind;
  open.row.category = event.category;
  SONDE_TRY_ASSIGN(open.row.nameId, writer_.intern(event.name));
  open.row.startNs = *event.startNs;
  open.row.correlationId = event.args.correlation;
  const bool isCall = kind == model::SliceKind::Api && isLaunchName(event.name);
  if ((isCall || kind == model::SliceKind::Operator) && event.args.externalId > 0)
    open.externalId = event.args.externalId;
  open.iteration = event.iteration ? event.iteration : profilerStep(event.name);
  return open;
}

Result<void> TraceEventImporter::endSlice(OpenEvent open,
                                          model::OptionalInt durNs,
                                          std::string_view args) {
  open.row.durNs = durNs;
  SONDE_TRY(addArgs(model::Owner::Slice, open.row.id.value, args));
  places_.cover(open.track, open.row.startNs, open.row.startNs + durNs.value_or(0));
  // The correlations of a file form one space, across the processes of its events. In a file of
  // merged ranks each rank has its own.
  SONDE_TRY(slices_.add(open.row,
                        isExport_ ? open.track.process : open.track.group,
                        open.track.process,
                        open.externalId));
  if (open.row.kind == model::SliceKind::Iteration) {
    model::Iteration iteration;
    iteration.number = open.iteration.value_or(0);
    iteration.startNs = open.row.startNs;
    iteration.durNs = durNs;
    iteration.sliceId = open.row.id;
    iterations_.emplace_back(open.track, iteration);
  }
  return {};
}

Result<void> TraceEventImporter::begin(const TraceEvent& event) {
  const auto ofItself = event.phase == 'b' ? model::SliceKind::Range : model::SliceKind::Operation;
  SONDE_TRY_ASSIGN(OpenEvent open, beginSlice(event, kindOf(event, ofItself)));
  return open_.begin(event, open);
}

Result<void> TraceEventImporter::end(const TraceEvent& event) {
  return open_.end(event);
}

Result<void> TraceEventImporter::instant(const TraceEvent& event) {
  SONDE_TRY_ASSIGN(OpenEvent open, beginSlice(event, model::SliceKind::Mark));
  return endSlice(open, 0, event.args.json);
}

// Arrows from forward to backward. Arrows from launch to kernel repeat the correlation less
// reliably: one real trace has 3,862 starts for 8,652 ends.
Result<void> TraceEventImporter::flow(const TraceEvent& event) {
  using End = HostSlices::FlowEnd;
  if (event.category == "ac2g" || event.category == "async_cpu_to_gpu")
    return {};
  const std::uint64_t at = reader_->byteOf(event);
  const bool isAtStream = isExport_ && !event.lane;
  if (event.id.text.empty() || isAtStream) {
    slices_.loseArrow(at);
    return {};
  }
  const DeviceRow* const row =
      event.phase == 's' || isExport_ ? nullptr : rows_.find(event.pid, event.tid);
  if (row != nullptr && row->use == DeviceRow::Use::Work)
    return slices_.addDeviceFlow(
        event.category,
        flowIdOf(event),
        places_.stream(places_.groupOf(event.pid), row->device, row->stream),
        {{}, *event.startNs, at});
  const ImportedPlaces::Track track = places_.track(event.pid, event.tid);
  HostSlices::FlowPlace place{track.thread, *event.startNs, at};
  if (event.lane && event.depth)
    place.line = {*event.lane, *event.depth};
  // An arrow ends at the next slice to begin, unless the event specifies otherwise.
  place.isNext = event.phase == 'f' && !event.bindsEnclosing;
  const End end = event.phase == 's' ? End::Start : event.phase == 't' ? End::Step : End::Finish;
  return slices_.addFlow(event.category, flowIdOf(event), end, place);
}

}  // namespace sonde::ingest
