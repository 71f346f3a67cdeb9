// Finds the nodes of a lane by time. Plain values; any thread.
#pragma once

#include "analysis/engine/graph/graph.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {

// Nodes of a trace's graph are sorted by lane, then by begin. Requires: `graph` outlives this.
class LaneLookup {
 public:
  explicit LaneLookup(const graph::Graph& graph);

  // [first, last); empty: the lane has none.
  std::pair<graph::NodeIndex, graph::NodeIndex> rangeOf(graph::LaneIndex lane) const;
  // The first node of the lane that begins then or later; the end of its range: none.
  graph::NodeIndex beginsFrom(graph::LaneIndex lane, std::int64_t ns) const;
  // The last node of the lane that has ended by then; kNoNode: none.
  graph::NodeIndex endedBy(graph::LaneIndex lane, std::int64_t ns) const;

 private:
  const graph::Graph& graph_;
  std::vector<std::pair<graph::NodeIndex, graph::NodeIndex>> ranges_;  // by lane
};

}  // namespace sonde::engine::whatif
