// The question how long an iteration would take if gradients were reduced during the backward pass.
// Free functions.
#pragma once

#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/question.h"

#include <cstdint>

namespace sonde::engine::whatif {

// The gradients of the iteration are reduced during its backward pass.
bool isOverlapped(const IterationBuckets& iteration);

// A job that reduces its gradients after the backward pass reduces them in buckets of `bytes`
// instead, each as soon as its gradients are ready; these are ready in proportion to the pass. A
// job that does so already stays as it is, and a note says so. NotFound: as of bucketSize().
// InvalidArgument: bytes are below 1.
Question overlap(std::int64_t bytes);

}  // namespace sonde::engine::whatif
