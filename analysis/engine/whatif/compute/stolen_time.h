// The time for which a rank's main thread waited for a processor that other threads of the rank
// used, such as those that move the data of collectives. Uses the database's thread.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>

namespace sonde::engine::whatif {

// By the thread that iterations run on: the part of its busy time in which it was in the run queue,
// but no more than the other threads of its process had of processors. Only threads whose times
// were sampled (`sonde run`, source system).
Result<std::map<graph::LaneIndex, double>> readStolenShares(const store::Database& trace,
                                                            const graph::TraceGraph& job);

}  // namespace sonde::engine::whatif
