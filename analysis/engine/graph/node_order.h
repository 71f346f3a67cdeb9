// The order of a graph's nodes. Free functions; any thread.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::graph {

// Puts the nodes in an order in which each comes after all that it needs. Follows each lane as far
// as it goes, since its nodes are neighbours in memory: on large graphs a replay in this order
// takes a third of the time.
//
// Instants that need each other in a circle lose the needs that close it, since clocks that count
// in microseconds put the instants of one causal chain at the same time. Returns these edges, of
// which `from` is kNoNode now; removeEdges() takes them out. InvalidArgument: nodes that take time
// need each other in a circle; the message names one of them by its time.
Result<std::vector<std::uint32_t>> orderNodes(Graph& graph);

// The same after a small change: `order` fits all needs but those that are new, and lacks the nodes
// that are new. Keeps it where it can.
Result<std::vector<std::uint32_t>> reorderNodes(Graph& graph);

// Takes out the edges of which `from` is kNoNode.
void removeEdges(Graph& graph);

}  // namespace sonde::engine::graph
