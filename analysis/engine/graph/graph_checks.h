// How far a recorded trace's graph can be trusted. Uses the database's thread.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/waits/waits.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>

namespace sonde::engine::graph {

// Faults that were seen while the graph was built.
struct BuildFaults {
  waits::EarlyEnds early;
  std::int64_t circles = 0;  // needs of instants for each other, left out
};

// Adds the checks of times, circles and lanes, and those of collectives and ranks. Requires: all
// but the checks of `into`.
Result<void> addChecks(const store::Database& trace, const BuildFaults& faults, TraceGraph& into);

}  // namespace sonde::engine::graph
