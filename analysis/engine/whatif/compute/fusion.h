// The question how long an iteration would take if operators were fused. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>

namespace sonde::engine::whatif {

enum class Fusion : std::uint8_t {
  // Pointwise kernels of one size that follow each other on a stream become one, and pointwise
  // operators of one size that follow each other on a thread. Optimizers stay. Memory bounds them,
  // and what one passes to the next need not be stored: the longest one's time remains, with its
  // call.
  Pointwise,
  // The kernels of an optimizer's step become one, which takes as long as all of them. A single
  // launch remains of the host's time for the step.
  Optimizer,
};

// Source: "Daydream: Accurately Estimating the Efficacy of Optimizations for DNN Training"
// (ATC'20), section 5.1 (FusedAdam), and dPRO's operator fusion. NotFound: the trace has nothing to
// fuse.
Question fusion(Fusion what);

}  // namespace sonde::engine::whatif
