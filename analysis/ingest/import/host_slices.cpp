#include "analysis/ingest/import/host_slices.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sonde::ingest {
namespace {

constexpr std::size_t kSlicesInMemory = 300'000;  // of the largest record, 40 MB

}  // namespace

// If two begin together, the longer contains the other; of equals, the one of the outer layer.
bool HostSlices::ByPlace::operator()(const Staged& a, const Staged& b) const noexcept {
  return std::tie(a.thread, a.startNs, b.endNs, a.kind, a.id) <
         std::tie(b.thread, b.startNs, a.endNs, b.kind, b.id);
}
bool HostSlices::FlowByPlace::operator()(const FlowPoint& a, const FlowPoint& b) const noexcept {
  return std::tie(a.thread, a.ns, b.isNext) < std::tie(b.thread, b.ns, a.isNext);
}
bool HostSlices::FlowById::operator()(const FlowPoint& a, const FlowPoint& b) const noexcept {
  return std::tie(a.kind, a.id, a.ns, a.end) < std::tie(b.kind, b.id, b.ns, b.end);
}
bool HostSlices::LaunchOrder::operator()(const Launch& a, const Launch& b) const noexcept {
  if (a.key != b.key)
    return a.key < b.key;
  if (!a.key.isShared())
    return a.slice < b.slice;
  const bool isScopeA = a.slice == 0;
  const bool isScopeB = b.slice == 0;
  return std::tie(isScopeA, a.startNs, a.slice) < std::tie(isScopeB, b.startNs, b.slice);
}

HostSlices::HostSlices(const std::filesystem::path& folder)
    : staged_(folder, kSlicesInMemory),
      placed_(folder, kSlicesInMemory),
      flows_(folder, kSlicesInMemory),
      settledFlows_(folder, kSlicesInMemory),
      launches_(folder, kSlicesInMemory) {}

std::uint32_t HostSlices::Words::numberOf(std::string_view text) {
  key_.assign(text);
  const auto [known, fresh] = numbers_.try_emplace(key_, static_cast<std::uint32_t>(texts_.size()));
  if (fresh)
    texts_.push_back(&known->first);
  return known->second;
}

Result<void> HostSlices::add(const model::Slice& slice,
                             model::ProcessId process,
                             model::ProcessId owner,
                             model::OptionalInt externalId) {
  Staged staged{};
  staged.id = slice.id.value;
  staged.thread = slice.threadId.value;
  staged.process = process.value;
  staged.startNs = slice.startNs;
  staged.endNs = slice.durNs ? slice.startNs + *slice.durNs : SlicePlacer::kOpen;
  staged.hasCorrelation = slice.correlationId.has_value();
  staged.correlation = slice.correlationId.value_or(0);
  staged.owner = owner.value;
  staged.hasExternalId = externalId.has_value();
  staged.externalId = externalId.value_or(0);
  staged.name = slice.nameId.value;
  staged.category = categories_.numberOf(slice.category);
  staged.kind = slice.kind;
  return staged_.add(staged);
}

Result<void> HostSlices::addFlow(std::string_view kind,
                                 std::int64_t id,
                                 FlowEnd end,
                                 const FlowPlace& place) {
  FlowPoint point{};
  point.thread = place.thread.value;
  point.ns = place.ns;
  point.id = id;
  point.at = place.at;
  point.line = place.line.value_or(SlicePlacer::Line());
  point.hasLine = place.line.has_value();
  point.kind = flowKinds_.numberOf(kind);
  point.end = end;
  point.isNext = place.isNext;
  return flows_.add(point);
}

Result<void> HostSlices::addDeviceFlow(std::string_view kind,
                                       std::int64_t id,
                                       model::StreamId stream,
                                       const FlowPlace& place) {
  FlowPoint point{};
  point.ns = place.ns;
  point.id = id;
  point.at = place.at;
  point.stream = stream.value;
  point.kind = flowKinds_.numberOf(kind);
  point.end = FlowEnd::Finish;
  return settledFlows_.add(point);
}

Result<void> HostSlices::finish(store::TraceWriter& writer,
                                std::int64_t shiftNs,
                                const TimeWindow& window) {
  SONDE_TRY(placeAll(window));
  SONDE_TRY(storeSlices(writer, shiftNs));
  SONDE_TRY(storeLinks(writer));
  return launches_.sort();
}

Result<void> HostSlices::placeAll(const TimeWindow& window) {
  SONDE_TRY(staged_.sort());
  SONDE_TRY(flows_.sort());
  SONDE_TRY_ASSIGN(hasFlow_, flows_.next(nextFlow_));
  for (Staged slice{};;) {
    SONDE_TRY_ASSIGN(const bool more, staged_.next(slice));
    if (!more)
      break;
    const bool isOpen = slice.endNs == SlicePlacer::kOpen;
    if (window.holds(slice.startNs, isOpen ? slice.startNs : slice.endNs))
      SONDE_TRY(place(slice));
    else
      leftOut_.push_back(slice.id);
  }
  SONDE_TRY(settleFlows(SlicePlacer::kOpen, 0));
  return placed_.sort();
}

// Requires: slices come in ByPlace's order.
Result<void> HostSlices::place(Staged& slice) {
  if (slice.thread != thread_) {
    SONDE_TRY(settleFlows(SlicePlacer::kOpen, 0));
    placer_.reset();
    thread_ = slice.thread;
  }
  SONDE_TRY(settleFlows(slice.startNs, slice.id));
  slice.place = placer_.place({slice.id,
                               slice.startNs,
                               slice.endNs,
                               model::isScope(slice.kind),
                               slice.kind == model::SliceKind::Range,
                               slice.kind == flatKind_});
  SONDE_TRY(addLaunches(slice));
  return placed_.add(slice);
}

Result<void> HostSlices::addLaunches(const Staged& slice) {
  const model::ProcessId process{slice.process};
  const bool isCall = slice.kind == model::SliceKind::Api;
  Launch launch{{}, slice.id, slice.place.scope, slice.startNs, slice.owner};
  if (slice.hasCorrelation && isCall) {
    launch.key = LaunchKey::correlation(process, slice.correlation);
    SONDE_TRY(launches_.add(launch));
  }
  if (!slice.hasExternalId)
    return {};
  launch.key = LaunchKey::externalId(process, slice.externalId);
  if (!isCall) {  // an operator without a recorded call
    launch.slice = 0;
    launch.scope = slice.id;
  }
  return launches_.add(launch);
}

std::int64_t HostSlices::sliceOf(const FlowPoint& point, std::int64_t next) const noexcept {
  if (point.thread != thread_)
    return 0;  // it has no slices
  if (point.hasLine)
    return placer_.openAt(point.line);
  return point.isNext ? next : placer_.innermostAt(point.ns);
}

// Settles the points of the current thread before this instant, at which `next` begins: no later
// slice can contain them.
Result<void> HostSlices::settleFlows(std::int64_t beforeNs, std::int64_t next) {
  const auto isSettled = [&] {
    const bool isAtNext = nextFlow_.isNext && next != 0 && nextFlow_.ns == beforeNs;
    return std::tie(nextFlow_.thread, nextFlow_.ns) < std::tie(thread_, beforeNs) ||
           (nextFlow_.thread == thread_ && isAtNext);
  };
  while (hasFlow_ && isSettled()) {
    nextFlow_.slice = sliceOf(nextFlow_, next);
    nextFlow_.scope = nextFlow_.thread == thread_ ? placer_.scopeAt(nextFlow_.ns) : 0;
    if (nextFlow_.slice != 0 || nextFlow_.end == FlowEnd::Start)
      SONDE_TRY(settledFlows_.add(nextFlow_));
    if (nextFlow_.slice == 0)
      loseArrow(nextFlow_.at);
    SONDE_TRY_ASSIGN(hasFlow_, flows_.next(nextFlow_));
  }
  return {};
}

Result<void> HostSlices::storeSlices(store::TraceWriter& writer, std::int64_t shiftNs) {
  for (Staged slice{};;) {
    SONDE_TRY_ASSIGN(const bool more, placed_.next(slice));
    if (!more)
      return {};
    model::Slice row;
    row.id = model::SliceId{slice.id};
    row.threadId = model::ThreadId{slice.thread};
    row.kind = slice.kind;
    row.category = categories_[slice.category];
    row.nameId = model::StringId{slice.name};
    row.startNs = slice.startNs + shiftNs;
    if (slice.endNs != SlicePlacer::kOpen)
      row.durNs = slice.endNs - slice.startNs;
    row.parentId = model::SliceId{slice.place.parent};
    row.depth = slice.place.depth;
    row.lane = slice.place.lane;
    row.scopeId = model::SliceId{slice.place.scope};
    row.scopeHow = slice.place.scope == 0 ? model::ScopeHow::None : model::ScopeHow::Own;
    if (slice.hasCorrelation)
      row.correlationId = slice.correlation;
    SONDE_TRY(writer.add(row));
  }
}

// Points at no slice were counted when they were settled.
void HostSlices::lose(const FlowPoint& point) {
  if (point.slice != 0)
    loseArrow(point.at);
}

// Makes `point` the new start of links, replacing the previous one.
void HostSlices::begin(Flow& flow, const FlowPoint& point) {
  if (!flow.isTied)
    lose(flow.from);
  flow.from = point;
  flow.isTied = false;
}

// Links the current start of links, if it is at a slice, to another point.
Result<void> HostSlices::tie(store::TraceWriter& writer, Flow& flow, const FlowPoint& to) {
  flow.isTied = flow.from.slice != 0;
  return flow.isTied ? writer.add(linkOf(flow.from, to)) : Result<void>();
}

Result<void> HostSlices::tieDevice(Flow& flow, const FlowPoint& to) {
  if (flow.from.scope == 0) {
    loseArrow(to.at);
    return {};
  }
  flow.isTied = true;
  const LaunchKey key = LaunchKey::arrow(model::StreamId{to.stream}, to.ns);
  return launches_.add({key, 0, flow.from.scope, flow.from.ns, 0});
}

// The points of a flow come by time. A finish belongs to the last start before it. If clocks of two
// devices differ, it may come before the only start.
Result<void> HostSlices::addToFlow(store::TraceWriter& writer, Flow& flow, const FlowPoint& point) {
  flow.kind = point.kind;
  flow.id = point.id;
  if (point.stream != 0)
    return tieDevice(flow, point);
  if (point.end == FlowEnd::Start) {
    begin(flow, point);
    ++flow.starts;
  } else if (flow.starts > 0) {
    SONDE_TRY(tie(writer, flow, point));
    const bool isTied = flow.isTied;
    lose(std::exchange(flow.early, {}));
    if (point.end == FlowEnd::Step) {
      begin(flow, point);
      flow.isTied = isTied;
    } else if (!isTied) {
      lose(point);
    }
  } else if (flow.early.slice == 0) {
    flow.early = point;
  } else {
    lose(point);
  }
  return {};
}

// Ends this flow and starts a new one.
Result<void> HostSlices::endFlow(store::TraceWriter& writer, Flow& flow) {
  Flow ended = std::exchange(flow, {});
  const bool isOnlyEnd = ended.starts == 1 && ended.early.slice != 0;
  if (isOnlyEnd)
    SONDE_TRY(tie(writer, ended, ended.early));
  if (!ended.isTied)
    lose(ended.from);
  if (!isOnlyEnd || !ended.isTied)
    lose(ended.early);
  return {};
}

Result<void> HostSlices::storeLinks(store::TraceWriter& writer) {
  SONDE_TRY(settledFlows_.sort());
  Flow flow;
  for (FlowPoint point{};;) {
    SONDE_TRY_ASSIGN(const bool more, settledFlows_.next(point));
    if (!more || flow.kind != point.kind || flow.id != point.id)
      SONDE_TRY(endFlow(writer, flow));
    if (!more)
      return {};
    SONDE_TRY(addToFlow(writer, flow, point));
  }
}

Result<bool> HostSlices::nextLaunch(Launch& into) {
  SONDE_TRY_ASSIGN(const bool more, launches_.next(into));
  const bool repeated = more && lastLaunch_.slice != 0 && lastLaunch_.key == into.key &&
                        lastLaunch_.owner == into.owner && !into.key.isShared();
  repeatedLaunches_ += repeated ? 1 : 0;
  lastLaunch_ = into;
  return more;
}

model::Link HostSlices::linkOf(const FlowPoint& start, const FlowPoint& finish) const {
  model::Link link;
  link.kind = flowKinds_[start.kind];
  link.fromId = start.slice;
  link.toId = finish.slice;
  return link;
}

}  // namespace sonde::ingest
