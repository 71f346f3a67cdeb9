// Predicts the launch delays of a step from other steps. Plain values; any thread.
#pragma once

#include "analysis/engine/operations/operation_graph.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::operations {

// The structure of each step, by step: numbers in the order in which they first occur. Steps have
// one structure if each lane has operations of the same types, in the same order.
std::vector<std::uint32_t> structuresOf(const OperationGraph& job);

// The launch delay of each node. An operation has the mean of those at its place, the n-th of its
// lane, in the other steps that build and have the same structure. Without another such step it
// keeps its own. `structures`: as of structuresOf(); `builds`: by step.
std::vector<std::int64_t> predictedDelays(const OperationGraph& job,
                                          const std::vector<std::uint32_t>& structures,
                                          const std::vector<bool>& builds);

}  // namespace sonde::engine::operations
