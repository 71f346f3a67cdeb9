// Buckets of gradients: the collectives in which a job reduces its gradients, and when these are
// ready. Uses the database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/transfer_edits.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

// A rank has computed this many bytes of its gradients when this lane, a thread or a stream, has
// come to this time.
struct ReadyPoint {
  std::int64_t bytes = 0;
  graph::LaneIndex lane = 0;
  std::int64_t ns = 0;
};

// The buckets of one iteration, in the order in which they are ready.
struct IterationBuckets {
  std::vector<const JobCollective*> buckets;
  // By part of the first bucket: what the trace says, by bytes, from none to all. Between two
  // points gradients are ready in proportion.
  std::vector<std::vector<ReadyPoint>> ready;

  std::int64_t bytes() const noexcept;
};

// When this many bytes are ready. Requires: `points` of one part, and no more bytes than they have.
ReadyPoint readyAt(const std::vector<ReadyPoint>& points, std::int64_t bytes);

// The reductions of one communicator that has all its ranks: the one that moves most, of those that
// reduce hardly anything in forward passes. Those below 4 KiB are not of gradients. By iteration; empty: the trace has none. Requires: `all` outlives the
// result.
Result<std::vector<IterationBuckets>> bucketsOf(const store::Database& trace,
                                                const graph::TraceGraph& job,
                                                const std::vector<JobCollective>& all,
                                                const TransferEdits& edits);

// For people: why bucketsOf() is empty.
inline constexpr const char* kNoBuckets =
    "the trace has no iteration in which all ranks reduce gradients: buckets are all-reduces and "
    "reduce-scatters of 4 KiB and more, outside of forward passes";

// InvalidArgument: an earlier question has replaced the transfers of a bucket.
Result<void> checkMeasured(const std::vector<IterationBuckets>& iterations,
                           const TransferEdits& edits);

// The gradients of DistributedDataParallel, in the order in which they are expected to be ready,
// and the limits at which it closes the first bucket and the others.
struct GradientSizes {
  std::vector<std::int64_t> bytes;
  std::int64_t firstLimit = 0;
  std::int64_t limit = 0;
};
// Without `bytes`: the trace does not say.
Result<GradientSizes> readGradientSizes(const store::Database& trace);

}  // namespace sonde::engine::whatif
