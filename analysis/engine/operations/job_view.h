// An operation-level job as other engines see jobs. Free functions; any thread.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/operations/operation_graph.h"
#include "analysis/engine/stragglers/stragglers.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::operations {

// Its graph without launch delays, which also hold waiting that no dependency explains: nodes begin
// as in a replay, and there are no gaps. It has an iteration for each step, of no rank, from the
// step's begin to its end. The checks are those of the job as measured: they count operations that
// the graph leaves out, and meetings that have waiting.
graph::TraceGraph traceGraphOf(const OperationGraph& job);

// Its work by worker and type of operation, to be replayed without launch delays. `gapNs`: zeros,
// as many as nodes. Requires: both outlive the result.
stragglers::Work workOf(const OperationGraph& job, const std::vector<std::int64_t>& gapNs);

}  // namespace sonde::engine::operations
