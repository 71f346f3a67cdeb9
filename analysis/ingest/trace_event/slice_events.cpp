#include "analysis/ingest/trace_event/slice_events.h"

#include "analysis/ingest/import/event_kinds.h"

#include <fmt/format.h>

#include <functional>
#include <string>

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

SliceEvents::SliceEvents(TraceEventContext& context, const std::filesystem::path& scratch)
    : context_(context), open_(scratch) {}

Result<void> SliceEvents::add(const TraceEvent& event, std::int64_t durNs) {
  SONDE_TRY_ASSIGN(OpenEvent open, beginSlice(event, kindOf(event, model::SliceKind::Operation)));
  return endSlice(open, durNs, event.args.json);
}

Result<OpenEvent> SliceEvents::beginSlice(const TraceEvent& event, model::SliceKind kind) {
  ++context_.kept;
  if (kind == model::SliceKind::Api)  // an argument of that name elsewhere is not a launch
    context_.noteUnreadable(event, ValueUse::Launch);
  OpenEvent open;
  open.track = context_.places.track(event.pid, event.tid);
  open.row.id = context_.writer.reserveSliceId();
  open.row.threadId = open.track.thread;
  open.row.kind = kind;
  open.row.category = event.category;
  SONDE_TRY_ASSIGN(open.row.nameId, context_.writer.intern(event.name));
  open.row.startNs = *event.startNs;
  open.row.correlationId = event.args.correlation;
  const bool isCall = kind == model::SliceKind::Api && isLaunchName(event.name);
  if ((isCall || kind == model::SliceKind::Operator) && event.args.externalId > 0)
    open.externalId = event.args.externalId;
  open.iteration = event.iteration ? event.iteration : profilerStep(event.name);
  return open;
}

Result<void> SliceEvents::endSlice(OpenEvent open,
                                   model::OptionalInt durNs,
                                   std::string_view args) {
  open.row.durNs = durNs;
  SONDE_TRY(context_.addArgs(model::Owner::Slice, open.row.id.value, args));
  context_.places.cover(open.track, open.row.startNs, open.row.startNs + durNs.value_or(0));
  // The correlations of a file form one space, across the processes of its events. In a file of
  // merged ranks each rank has its own.
  SONDE_TRY(context_.slices.add(open.row,
                                context_.isExport ? open.track.process : open.track.group,
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

Result<void> SliceEvents::begin(const TraceEvent& event) {
  const auto ofItself = event.phase == 'b' ? model::SliceKind::Range : model::SliceKind::Operation;
  SONDE_TRY_ASSIGN(OpenEvent open, beginSlice(event, kindOf(event, ofItself)));
  return open_.begin(event, open);
}

Result<void> SliceEvents::instant(const TraceEvent& event) {
  SONDE_TRY_ASSIGN(OpenEvent open, beginSlice(event, model::SliceKind::Mark));
  return endSlice(open, 0, event.args.json);
}

// Arrows from forward to backward. Arrows from launch to kernel repeat the correlation less
// reliably: one real trace has 3,862 starts for 8,652 ends.
Result<void> SliceEvents::flow(const TraceEvent& event) {
  using End = HostSlices::FlowEnd;
  if (event.category == "ac2g" || event.category == "async_cpu_to_gpu")
    return {};
  const std::uint64_t at = context_.byteOf(event);
  const bool isAtStream = context_.isExport && !event.lane;
  if (event.id.text.empty() || isAtStream) {
    context_.slices.loseArrow(at);
    return {};
  }
  const DeviceRow* const row =
      event.phase == 's' || context_.isExport ? nullptr : context_.rows.find(event.pid, event.tid);
  if (row != nullptr && row->use == DeviceRow::Use::Work)
    return context_.slices.addDeviceFlow(
        event.category,
        flowIdOf(event),
        context_.places.stream(context_.places.groupOf(event.pid), row->device, row->stream),
        {{}, *event.startNs, at});
  const ImportedPlaces::Track track = context_.places.track(event.pid, event.tid);
  HostSlices::FlowPlace place{track.thread, *event.startNs, at};
  if (event.lane && event.depth)
    place.line = {*event.lane, *event.depth};
  // An arrow ends at the next slice to begin, unless the event specifies otherwise.
  place.isNext = event.phase == 'f' && !event.bindsEnclosing;
  const End end = event.phase == 's' ? End::Start : event.phase == 't' ? End::Step : End::Finish;
  return context_.slices.addFlow(event.category, flowIdOf(event), end, place);
}

Result<void> SliceEvents::pairOpen() {
  SONDE_TRY_ASSIGN(
      const OpenEvents::Counts counts,
      open_.pair([this](OpenEvent open, model::OptionalInt durNs, std::string_view args) {
        return endSlice(open, durNs, args);
      }));
  context_.account.unpaired += counts.neverBegun;
  if (counts.neverEnded > 0)
    context_.account.warnings.push_back(fmt::format(
        "{} events have no end: they last until the end of the trace", counts.neverEnded));
  return {};
}

Result<void> SliceEvents::finishIterations(const TimeWindow& window) {
  for (auto& [track, iteration] : iterations_) {
    if (!window.holds(iteration.startNs, iteration.startNs + iteration.durNs.value_or(0)))
      continue;
    iteration.processId = context_.places.processOf(track);
    iteration.startNs += context_.baseNs;
    SONDE_TRY(context_.writer.add(iteration));
  }
  return {};
}

}  // namespace sonde::ingest
