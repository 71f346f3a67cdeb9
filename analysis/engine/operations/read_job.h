// The graph of any job, recorded or operation-level, and its slow ranks. Uses the database's
// thread; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/stragglers/stragglers.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sonde::engine::operations {

struct JobGraph {
  graph::TraceGraph trace;
  // Only as asked for:
  std::vector<stragglers::Straggler> stragglers;
  std::size_t ranks = 0;        // that were compared
  std::size_t steps = 0;        // in so many steps
  std::string whyNoStragglers;  // empty: they were looked for, or not asked for
};

// The graph of an operation-level trace is that without launch delays. Errors are those of
// readGraph() and readOperationGraph().
Result<JobGraph> readJob(const store::Database& trace, bool withStragglers);

}  // namespace sonde::engine::operations
