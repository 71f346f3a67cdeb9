// Predicts the gaps of an iteration from the other ones, to see what a replay is worth where gaps
// are not known. Plain values; any thread.
#pragma once

#include "analysis/engine/replay/iteration_nodes.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::replay {

// Whether an iteration's gaps predict those of others; by index of the iterations.
using Builds = std::vector<bool>;

// The graph's gaps; those of nodes in iterations are replaced. A lane has as long a gap in an
// iteration as in the mean of the others that build and have the same structure, divided among its
// nodes of one kind. Without another such iteration a node keeps its gap. The part of a gap before
// the iteration began on its process is no part of the iteration, so the node keeps it.
// `iterationOf`: as of iterationOfNodes(); `structures`: as of structuresOf().
std::vector<std::int64_t> predictedGaps(const graph::Graph& graph,
                                        const std::vector<JobIteration>& iterations,
                                        const std::vector<std::uint32_t>& iterationOf,
                                        const std::vector<std::uint32_t>& structures,
                                        const Builds& builds);

}  // namespace sonde::engine::replay
