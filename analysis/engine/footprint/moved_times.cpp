#include "analysis/engine/footprint/moved_times.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sonde::engine::footprint {
namespace {

using graph::kNoNode;
using graph::NodeIndex;

// `part` of `whole` in a stretch of another length.
std::int64_t inProportion(std::int64_t part, std::int64_t whole, std::int64_t length) {
  if (length == whole || whole == 0)
    return part;
  // The product of two times does not fit into 64 bits.
  return std::llround(static_cast<double>(part) / static_cast<double>(whole) *
                      static_cast<double>(length));
}

}  // namespace

MovedTimes::MovedTimes(const graph::Graph& graph, const critical::Times& times)
    : graph_(graph), times_(times) {
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (const graph::Lane& lane = graph.lanes[graph.lane[node]];
        lane.kind == graph::LaneKind::Thread)
      nodes_[lane.id].push_back(node);
}

NodeIndex MovedTimes::nodeAt(std::int64_t threadId, std::int64_t jobNs) const {
  const auto nodes = nodes_.find(threadId);
  if (nodes == nodes_.end())
    return kNoNode;
  const auto behind = std::upper_bound(
      nodes->second.begin(), nodes->second.end(), jobNs, [&](std::int64_t ns, NodeIndex node) {
        return ns < graph_.beginNs[node];
      });
  return behind == nodes->second.begin() ? kNoNode : *std::prev(behind);
}

std::int64_t MovedTimes::shiftOf(std::int64_t threadId, std::int64_t jobNs) const {
  const auto nodes = nodes_.find(threadId);
  if (nodes == nodes_.end())
    return 0;
  const NodeIndex first = nodes->second.front();
  const NodeIndex node = nodeAt(threadId, jobNs);
  if (node == kNoNode)
    return times_.beginNs[first] - graph_.beginNs[first];
  const std::int64_t end = graph_.endNs(node);
  if (jobNs <= end)
    return times_.beginNs[node] +
           inProportion(jobNs - graph_.beginNs[node], graph_.durNs[node], times_.durNs[node]) -
           jobNs;
  if (node == nodes->second.back())
    return endNs(node) - end;
  // The nodes of a thread have consecutive numbers.
  const NodeIndex next = node + 1;
  return endNs(node) +
         inProportion(jobNs - end, graph_.beginNs[next] - end, times_.beginNs[next] - endNs(node)) -
         jobNs;
}

}  // namespace sonde::engine::footprint
