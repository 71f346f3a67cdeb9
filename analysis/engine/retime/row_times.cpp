#include "analysis/engine/retime/row_times.h"

#include <algorithm>
#include <utility>

namespace sonde::engine::retime {

using graph::Graph;
using graph::kNoNode;
using graph::LaneIndex;
using graph::LaneKind;
using graph::NodeIndex;
using graph::NodeKind;

RowTimes::RowTimes(const graph::TraceGraph& trace,
                   const NewTimes& times,
                   const align::JobClock& clock)
    : trace_(trace), times_(times), clock_(clock), lanes_(trace.graph.lanes.size()) {
  addNodes();
  findPlaces();
  for (const graph::IterationNodes& each : trace_.iterations)
    iterations_.emplace(std::tuple(each.processId, each.number, trace_.graph.beginNs[each.first]),
                        &each);
}

void RowTimes::addNodes() {
  const Graph& graph = trace_.graph;
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    const LaneIndex lane = graph.lane[node];
    if (graph.lanes[lane].kind == LaneKind::Meetings)
      continue;
    lanes_[lane].addNode({graph.beginNs[node], graph.endNs(node)},
                         {times_.beginNs[node], times_.beginNs[node] + times_.durNs[node]});
    if (graph.lanes[lane].kind == LaneKind::Thread && graph.row[node] != 0)
      slices_.emplace(graph.row[node], node);
    if (graph.lanes[lane].kind == LaneKind::Stream)
      (graph.kind[node] == NodeKind::Copy ? copies_ : kernels_).emplace(graph.row[node], node);
  }
}

// A process has the times of the thread that drives its iterations, or else is busy longest.
void RowTimes::findPlaces() {
  const Graph& graph = trace_.graph;
  std::vector<std::int64_t> busyNs(graph.lanes.size(), 0);
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    busyNs[graph.lane[node]] += graph.durNs[node];
  for (LaneIndex index = 0; index < graph.lanes.size(); ++index) {
    const graph::Lane& lane = graph.lanes[index];
    if (lane.kind == LaneKind::Meetings || lane.kind == LaneKind::Connection ||
        lanes_[index].isEmpty())
      continue;
    (lane.kind == LaneKind::Thread ? ofThread_ : ofStream_).emplace(lane.id, index);
    const auto [place, isNew] = ofProcess_.emplace(lane.processId, index);
    const auto worth = [&](LaneIndex of) {
      return std::pair(graph.lanes[of].kind == LaneKind::Thread, busyNs[of]);
    };
    if (!isNew && worth(index) > worth(place->second))
      place->second = index;
  }
  for (const graph::IterationNodes& each : trace_.iterations)
    ofProcess_[each.processId] = graph.lane[each.first];
  std::map<std::int64_t, LaneIndex> processes(ofProcess_.begin(), ofProcess_.end());
  for (const auto& [process, lane] : processes)
    ofHost_.emplace(graph.lanes[lane].hostId, lane);
}

const graph::Lane* RowTimes::laneOf(const RowPlace& place) const {
  const auto found = [&](const auto& lanes, std::int64_t id) -> const graph::Lane* {
    const auto lane = lanes.find(id);
    return lane == lanes.end() ? nullptr : &trace_.graph.lanes[lane->second];
  };
  if (const graph::Lane* lane = found(ofThread_, place.threadId))
    return lane;
  if (const graph::Lane* lane = found(ofProcess_, place.processId))
    return lane;
  if (const graph::Lane* lane = found(ofHost_, place.hostId))
    return lane;
  return ofHost_.empty() ? nullptr : &trace_.graph.lanes[ofHost_.begin()->second];
}

// A time that does not move keeps its value to the nanosecond, whatever the host's clock.
std::int64_t RowTimes::movedBy(std::int64_t hostId, std::int64_t ns, std::int64_t shiftNs) const {
  if (shiftNs == 0 || !clock_.isMapped(hostId))
    return ns + shiftNs;
  const align::HostClock host = clock_.clockOf(hostId);
  const std::int64_t jobNs = host.toJob(ns);
  return ns + host.toHost(jobNs + shiftNs) - host.toHost(jobNs);
}

RowSpan RowTimes::moved(LaneIndex lane, const RowSpan& measured) const {
  const std::int64_t host = trace_.graph.lanes[lane].hostId;
  RowSpan span;
  if (measured.beginNs) {
    const std::int64_t jobNs = clock_.toJob(host, *measured.beginNs);
    span.beginNs = movedBy(host, *measured.beginNs, lanes_[lane].beginAt(jobNs) - jobNs);
  }
  if (measured.endNs) {
    const std::int64_t jobNs = clock_.toJob(host, *measured.endNs);
    span.endNs = movedBy(host, *measured.endNs, lanes_[lane].endAt(jobNs) - jobNs);
  }
  if (span.beginNs && span.endNs && measured.beginNs <= measured.endNs)
    span.endNs = std::max(*span.beginNs, *span.endNs);
  return span;
}

RowSpan RowTimes::ofRow(const RowPlace& place, const RowSpan& measured) const {
  const graph::Lane* lane = laneOf(place);
  return lane == nullptr
             ? measured
             : moved(static_cast<LaneIndex>(lane - trace_.graph.lanes.data()), measured);
}

RowSpan RowTimes::ofStream(std::int64_t streamId, const RowSpan& measured) const {
  const auto lane = ofStream_.find(streamId);
  return lane == ofStream_.end() ? measured : moved(lane->second, measured);
}

std::int64_t RowTimes::beginShift(NodeIndex node) const {
  return times_.beginNs[node] - trace_.graph.beginNs[node];
}

std::int64_t RowTimes::endShift(NodeIndex node) const {
  return times_.beginNs[node] + times_.durNs[node] - trace_.graph.endNs(node);
}

std::optional<WorkTimes> RowTimes::ofWork(bool isCopy,
                                          std::int64_t id,
                                          std::int64_t beginNs,
                                          std::int64_t endNs) const {
  const Graph& graph = trace_.graph;
  const Rows& rows = isCopy ? copies_ : kernels_;
  const auto found = rows.find(id);
  if (found == rows.end())
    return std::nullopt;
  const NodeIndex first = found->second;
  const bool hasTransfer = first + 1 < graph.nodes() &&
                           graph.kind[first + 1] == NodeKind::Transfer &&
                           graph.row[first + 1] == id && graph.lane[first + 1] == graph.lane[first];
  const NodeIndex last = hasTransfer ? first + 1 : first;
  const std::int64_t host = graph.lanes[graph.lane[first]].hostId;
  WorkTimes work;
  work.beginNs = movedBy(host, beginNs, beginShift(first));
  work.transferShiftNs = beginShift(last);
  work.endNs = std::max(work.beginNs, movedBy(host, endNs, endShift(last)));
  return work;
}

std::optional<RowSpan> RowTimes::ofSlice(std::int64_t id,
                                         std::int64_t beginNs,
                                         std::int64_t endNs) const {
  const auto found = slices_.find(id);
  if (found == slices_.end())
    return std::nullopt;
  const NodeIndex node = found->second;
  const std::int64_t host = trace_.graph.lanes[trace_.graph.lane[node]].hostId;
  return RowSpan{movedBy(host, beginNs, beginShift(node)), movedBy(host, endNs, endShift(node))};
}

std::optional<RowSpan> RowTimes::ofIteration(std::int64_t processId,
                                             std::int64_t number,
                                             std::int64_t beginNs,
                                             std::int64_t endNs) const {
  const auto process = ofProcess_.find(processId);
  if (process == ofProcess_.end())
    return std::nullopt;
  const std::int64_t host = trace_.graph.lanes[process->second].hostId;
  const auto found = iterations_.find({processId, number, clock_.toJob(host, beginNs)});
  if (found == iterations_.end())
    return std::nullopt;
  return RowSpan{movedBy(host, beginNs, beginShift(found->second->first)),
                 movedBy(host, endNs, endShift(found->second->last))};
}

}  // namespace sonde::engine::retime
