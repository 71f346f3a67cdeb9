// The question how long a job would take if it reduced its gradients in buckets of another size.
// Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>

namespace sonde::engine::whatif {

// The gradients of each iteration are reduced in buckets of this many bytes, each once its last
// gradient is ready. If the trace knows the gradients of DistributedDataParallel, a bucket is
// closed by the gradient that fills it, and the first one at its own limit. A gradient inside of a
// present bucket is ready in proportion to its place. NotFound: the trace has no reductions of all
// ranks inside of iterations. InvalidArgument: bytes are below 1.
Question bucketSize(std::int64_t bytes);

}  // namespace sonde::engine::whatif
