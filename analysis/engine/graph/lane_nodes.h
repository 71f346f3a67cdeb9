// The nodes of each lane by time, while a graph is built. Within engine/graph.
#pragma once

#include "analysis/engine/graph/graph_builder.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::engine::graph {

// Nodes of a lane are added one lane after the other, by time; they do not overlap.
class LaneNodes {
 public:
  explicit LaneNodes(GraphBuilder& builder) : builder_(builder) {}

  // Requires: `lane` is the next one.
  void beginLane() { first_.push_back(static_cast<NodeIndex>(builder_.soFar().nodes())); }
  NodeIndex add(NodeKind kind, std::int64_t beginNs, std::int64_t endNs, std::int64_t row = 0);

  // The last node of the lane that ended by then; kNoNode: none.
  NodeIndex endedBy(LaneIndex lane, std::int64_t ns) const;
  // The first node of the lane that begins at that time or later; kNoNode: none.
  NodeIndex beginsFrom(LaneIndex lane, std::int64_t ns) const;
  // The same, without nodes that have no length.
  NodeIndex lastsFrom(LaneIndex lane, std::int64_t ns) const;
  std::pair<NodeIndex, NodeIndex> rangeOf(LaneIndex lane) const;

 private:
  GraphBuilder& builder_;
  std::vector<NodeIndex> first_;  // by lane
};

}  // namespace sonde::engine::graph
