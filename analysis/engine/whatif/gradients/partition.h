// Asks how long an iteration takes if tensors are reduced in pieces, and if servers add gradients
// up. Both replace the time of each bucket's reduction. Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>

namespace sonde::engine::whatif {

// Each bucket is reduced in pieces of `bytes`, one after the other (Peng et al., "A Generic
// Communication Scheduler for Distributed DNN Training Acceleration", 2019, section 3). NotFound:
// the trace has no buckets. InvalidArgument: a piece has less than one byte.
Question partition(std::int64_t bytes);

// Ranks push each bucket to `servers`, which add up an equal part of it each, and pull the sum (Li
// et al., "Scaling Distributed Machine Learning with the Parameter Server", 2014). A server's link
// is as fast as a rank's in each direction. Errors as above.
Question parameterServer(std::int64_t servers);

}  // namespace sonde::engine::whatif
