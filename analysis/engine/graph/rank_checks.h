// Checks of which ranks and iterations of the job a trace has. Uses the database's thread.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace sonde::engine::graph {

// The number of an iteration, and how often its process had that number before.
using IterationName = std::pair<std::int64_t, std::int64_t>;

// The iterations of each rank. Processes without a rank do not count.
std::map<std::int64_t, std::set<IterationName>> iterationsOfRanks(
    const std::vector<IterationNodes>& iterations);

// Two checks:
//  - `ranks`: the job has ranks that the trace does not have. The size of the job is that of its
//    largest communicator, or what its processes were told.
//  - `iterations`: a rank of the trace lacks iterations that other ranks have, since it ended early
//    or its trace was cut.
Result<std::vector<Check>> rankChecks(const store::Database& trace,
                                      const std::vector<IterationNodes>& iterations);

}  // namespace sonde::engine::graph
