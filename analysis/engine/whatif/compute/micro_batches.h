// The micro-batches of a job: loading, forward and backward, in each iteration up to the optimizer.
// Uses the database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

// All that a process does in one iteration before its optimizer steps.
struct MicroBatch {
  std::uint32_t iteration = 0;  // index of the job's `iterations`
  graph::LaneIndex driver = 0;  // the thread that iterates
  Span span;                    // of it
  Span optimizer;               // the step that follows; empty: the trace does not show it
};

// By iteration. NotFound: the trace shows neither optimizers nor backward passes.
Result<std::vector<MicroBatch>> readMicroBatches(const store::Database& trace,
                                                 const graph::TraceGraph& job);

// A part of a node that belongs to a micro-batch.
struct MicroWork {
  std::uint32_t batch = 0;  // index
  graph::NodeIndex node = 0;
  Span part;
};

struct MicroWorks {
  std::vector<MicroWork> onThreads;
  std::vector<MicroWork> onDevices;  // whole kernels and copies that the micro-batch launched
};

// Without collectives, and without the workers of loaders.
Result<MicroWorks> readWorks(const store::Database& trace,
                             const graph::TraceGraph& job,
                             const std::vector<JobCollective>& collectives,
                             const std::vector<MicroBatch>& batches);

}  // namespace sonde::engine::whatif
