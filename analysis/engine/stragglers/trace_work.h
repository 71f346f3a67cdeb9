// The work of a trace's ranks, to look for stragglers. Uses the database's thread while it reads.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/stragglers/stragglers.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::stragglers {

// The work of all ranks by name and cause, without waits and without the transfers of
// collectives. Its steps are the iterations; without any
// it has none. Requires: `graph` outlives the result.
Result<Work> workOf(const store::Database& trace, const graph::TraceGraph& graph);

}  // namespace sonde::engine::stragglers
