// The question how long an iteration would take if gradients were accumulated over several
// micro-batches. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>

namespace sonde::engine::whatif {

// An iteration loads, and runs forward and backward, `factor` times as often as now. Gradients are
// reduced only in the last of these micro-batches, and the optimizer steps once. The others take as
// long as the measured one without its reductions. NotFound: as of readMicroBatches().
Question accumulation(std::int64_t factor);

}  // namespace sonde::engine::whatif
