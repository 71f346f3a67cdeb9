// The micro-batches of a job: loading, forward and backward, in each iteration up to the optimizer.
// Uses the database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sonde::engine::whatif {

// All that a process does in one iteration before its optimizer steps.
struct MicroBatch {
  std::uint32_t iteration = 0;  // index of the job's `iterations`
  graph::LaneIndex driver = 0;  // the thread that iterates
  Span span;                    // of it
  Span optimizer;               // the step that follows; empty: the trace does not show it
  // When the driver has computed all gradients, if that is known: then it waits for their
  // reductions, and copies them.
  std::optional<std::int64_t> computedNs = {};

  std::int64_t computedBy() const noexcept { return computedNs.value_or(span.endNs); }
};

// By iteration. NotFound: the trace shows neither optimizers nor backward passes.
Result<std::vector<MicroBatch>> readMicroBatches(const store::Database& trace,
                                                 const graph::TraceGraph& job);

// The optimizer steps that follow micro-batches; none: the trace does not show any.
Result<ThreadSpans> optimizerSpans(const store::Database& trace, const graph::TraceGraph& job);

// Sets computedNs where drivers compute the gradients of these buckets themselves.
void endAtReductions(const graph::Graph& graph,
                     const std::vector<IterationBuckets>& iterations,
                     std::vector<MicroBatch>& batches);

// Finds micro-batches by the lanes of their processes. Requires: both outlive this.
class MicroBatchLookup {
 public:
  MicroBatchLookup(const graph::Graph& graph, const std::vector<MicroBatch>& batches);

  // Those of the lane's process, by begin: indices.
  const std::vector<std::uint32_t>& of(graph::LaneIndex lane) const;
  // The one in which a time lies; the number of batches: none.
  std::uint32_t at(graph::LaneIndex lane, std::int64_t ns) const;

 private:
  const graph::Graph& graph_;
  const std::vector<MicroBatch>& batches_;
  std::unordered_map<std::int64_t, std::vector<std::uint32_t>> ofProcesses_;
};

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

// Without collectives, what drivers do after computedBy(), and the workers of loaders.
Result<MicroWorks> readWorks(const store::Database& trace,
                             const graph::TraceGraph& job,
                             const std::vector<JobCollective>& collectives,
                             const std::vector<MicroBatch>& batches);

}  // namespace sonde::engine::whatif
