// How long the steps of an operation-level trace take: as measured, and in replays. Free functions;
// any thread.
#pragma once

#include "analysis/engine/operations/operation_graph.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::operations {

// From the begin of each step to its last end, in ns, by step. `beginNs` and `durNs` are by node.
std::vector<std::int64_t> stepTimes(const OperationGraph& job,
                                    const std::vector<std::int64_t>& beginNs,
                                    const std::vector<std::int64_t>& durNs);

// As measured.
std::vector<std::int64_t> measuredTimes(const OperationGraph& job);

// In a replay with these durations and without launch delays: each operation begins as soon as all
// that it needs has ended. Requires: `durNs` has as many elements as the graph has nodes.
//
// This is the baseline of questions about a job, since launch delays also hold waiting that no
// dependency explains.
std::vector<std::int64_t> timesWithoutDelays(const OperationGraph& job,
                                             const std::vector<std::int64_t>& durNs);

// The mean of |replayed − measured| ÷ measured over the steps. 0 without steps. Requires: as many
// of both.
double meanError(const std::vector<std::int64_t>& replayedNs,
                 const std::vector<std::int64_t>& measuredNs);

}  // namespace sonde::engine::operations
