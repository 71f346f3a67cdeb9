#include "analysis/engine/whatif/lane_lookup.h"

namespace sonde::engine::whatif {

using graph::LaneIndex;
using graph::NodeIndex;

LaneLookup::LaneLookup(const graph::Graph& graph) : graph_(graph), ranges_(graph.lanes.size()) {
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    auto& [first, last] = ranges_[graph.lane[node]];
    if (last == 0)
      first = node;
    last = node + 1;
  }
}

std::pair<NodeIndex, NodeIndex> LaneLookup::rangeOf(LaneIndex lane) const {
  return ranges_[lane];
}

NodeIndex LaneLookup::beginsFrom(LaneIndex lane, std::int64_t ns) const {
  auto [low, high] = rangeOf(lane);
  while (low < high) {
    const NodeIndex middle = low + (high - low) / 2;
    if (graph_.beginNs[middle] < ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

NodeIndex LaneLookup::endedBy(LaneIndex lane, std::int64_t ns) const {
  auto [low, high] = rangeOf(lane);
  const NodeIndex first = low;
  while (low < high) {
    const NodeIndex middle = low + (high - low) / 2;
    if (graph_.endNs(middle) <= ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low == first ? graph::kNoNode : low - 1;
}

}  // namespace sonde::engine::whatif
