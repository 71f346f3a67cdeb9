// The calls that put reductions of gradients into streams. Uses the database's thread.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <set>

namespace sonde::engine::whatif {

// Calls that launch the collectives of these streams, that make the streams wait, and that record
// the events that they wait for. In the job's time.
Result<ThreadSpans> readStreamCalls(const store::Database& trace,
                                    const graph::Graph& graph,
                                    const std::set<graph::LaneIndex>& streams);

}  // namespace sonde::engine::whatif
