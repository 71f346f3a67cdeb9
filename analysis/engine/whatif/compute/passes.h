// The forward and backward passes of a job. Uses the database's thread while it reads; then plain
// values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/whatif/compute/micro_batches.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <vector>

namespace sonde::engine::whatif {

// Backward passes with the forward passes before them, each as a micro-batch without an optimizer,
// so that readWorks() finds its work. `iteration` is an index of jobIterations().
struct Passes {
  std::vector<MicroBatch> forward;
  std::vector<MicroBatch> backward;  // of the same index
};

// By thread, then by begin; passes without the other one are left out. NotFound: the trace shows no
// such pair.
Result<Passes> readPasses(const store::Database& trace, const graph::TraceGraph& job);

}  // namespace sonde::engine::whatif
