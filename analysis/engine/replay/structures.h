// Which iterations of a job have graphs of one structure. Uses the database's thread while it
// reads; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::replay {

// The group of each iteration: its place among the structures, in the order in which they first
// occur. Iterations have one structure if in each lane the same things follow each other:
//  - in a stream the kernels and copies, by name. They belong to the iteration that launched them.
//  - in a thread what the program annotates: phases, operations, passes, optimizers, evaluations
//    and checkpoints, by name.
//  - in a thread the number of collectives that it comes to.
// The nodes of threads do not count, since a wait divides a thread only if it was long enough to be
// seen, and loads of data do not, since they run ahead. `iterationOf` as of iterationOfNodes().
Result<std::vector<std::uint32_t>> structuresOf(const store::Database& trace,
                                                const graph::Graph& graph,
                                                const std::vector<JobIteration>& iterations,
                                                const std::vector<std::uint32_t>& iterationOf);

}  // namespace sonde::engine::replay
