// The second-best path: how much shorter the next longest chain is, and what it leads through. A
// free function; any thread.
#pragma once

#include "analysis/engine/critical/critical_path.h"
#include "analysis/engine/graph/graph.h"

#include <cstdint>
#include <optional>

namespace sonde::engine::critical {

struct SecondPath {
  std::int64_t behindNs = 0;  // than the critical path; 0: as long
  Element through;            // the longest node that only the second path has; Cause::Node
};

// The longest path to the end of `last` that has a node with a length which the critical path from
// `fromNs` does not have. It leaves the critical path at a node whose need is another one than the
// latest; what it takes from there on is again the latest need of each node. A path that differs
// only by instants, or by edges between the same nodes, is none.
// Source: Eppstein, "Finding the k shortest paths" (1998): the second path has the sidetracks of
// least cost. nullopt: there is no such path since `fromNs`.
std::optional<SecondPath> secondPath(const graph::Graph& graph,
                                     const Times& times,
                                     graph::NodeIndex last,
                                     std::int64_t fromNs);

}  // namespace sonde::engine::critical
