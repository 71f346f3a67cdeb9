// How much room each node has before the stretch of a critical path takes longer, and how much
// shorter it would be without one. Free functions; any thread.
#pragma once

#include "analysis/engine/critical/critical_path.h"
#include "analysis/engine/graph/graph.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::engine::critical {

inline constexpr std::int64_t kUnrelated = std::numeric_limits<std::int64_t>::max();

// How much later each node could end without `last` ending later, in ns; by node. kUnrelated:
// `last` does not need it. O(nodes + edges).
std::vector<std::int64_t> slackOf(const graph::Graph& graph,
                                  const Times& times,
                                  graph::NodeIndex last);

// How much earlier `last` would end if a node took no time, for each element of a path of
// Cause::Node; 0 for other elements. Exact for one node at a time. `slack` as of slackOf(). O(e log
// e) for the e edges in the stretch of the path.
std::vector<std::int64_t> gainsOf(const graph::Graph& graph,
                                  const Times& times,
                                  const std::vector<Element>& path,
                                  const std::vector<std::int64_t>& slack,
                                  graph::NodeIndex last);

}  // namespace sonde::engine::critical
