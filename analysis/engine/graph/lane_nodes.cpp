#include "analysis/engine/graph/lane_nodes.h"

namespace sonde::engine::graph {

NodeIndex LaneNodes::add(NodeKind kind,
                         std::int64_t beginNs,
                         std::int64_t endNs,
                         std::int64_t row) {
  return builder_.addNode(
      static_cast<LaneIndex>(first_.size() - 1), kind, beginNs, endNs - beginNs, row);
}

std::pair<NodeIndex, NodeIndex> LaneNodes::rangeOf(LaneIndex lane) const {
  const NodeIndex end = lane + 1 < first_.size() ? first_[lane + 1]
                                                 : static_cast<NodeIndex>(builder_.soFar().nodes());
  return {first_[lane], end};
}

NodeIndex LaneNodes::endedBy(LaneIndex lane, std::int64_t ns) const {
  auto [low, high] = rangeOf(lane);
  const NodeIndex first = low;
  while (low < high) {
    const NodeIndex middle = low + (high - low) / 2;
    if (builder_.soFar().endNs(middle) <= ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low == first ? kNoNode : low - 1;
}

NodeIndex LaneNodes::beginsFrom(LaneIndex lane, std::int64_t ns) const {
  auto [low, high] = rangeOf(lane);
  const NodeIndex end = high;
  while (low < high) {
    const NodeIndex middle = low + (high - low) / 2;
    if (builder_.soFar().beginNs[middle] < ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low == end ? kNoNode : low;
}

NodeIndex LaneNodes::lastsFrom(LaneIndex lane, std::int64_t ns) const {
  NodeIndex node = beginsFrom(lane, ns);
  const NodeIndex end = rangeOf(lane).second;
  while (node != kNoNode && node < end && builder_.soFar().durNs[node] == 0)
    ++node;
  return node < end ? node : kNoNode;
}

}  // namespace sonde::engine::graph
