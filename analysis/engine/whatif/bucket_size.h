// The question how long a job would take if it reduced its gradients in buckets of another size.
// Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

// The gradients of each iteration are reduced in buckets of this many bytes, each once its last
// gradient is ready. If the trace knows the gradients of DistributedDataParallel, a bucket is
// closed by the gradient that fills it, and the first one at its own limit. A gradient inside of a
// present bucket is ready in proportion to its place. NotFound: the trace has no reductions of all
// ranks inside of iterations. InvalidArgument: bytes are below 1.
Question bucketSize(std::int64_t bytes);

// The sizes of buckets: `total` bytes cut at `limit`, or gradients put together until they reach
// it.
std::vector<std::int64_t> cutAt(std::int64_t total, std::int64_t limit);
std::vector<std::int64_t> joinTo(const std::vector<std::int64_t>& gradients,
                                 std::int64_t firstLimit,
                                 std::int64_t limit);

}  // namespace sonde::engine::whatif
