// The question how long an iteration would take at least with sparse weights. Free functions.
#pragma once

#include "analysis/engine/models/kernels/device_peaks.h"
#include "analysis/engine/whatif/compute/sparsity_roofline.h"
#include "analysis/engine/whatif/question.h"

namespace sonde::engine::whatif {

// The right side of each mm and addmm with recorded sizes is sparse. Its kernels become faster by
// the ceiling of the sparsity roofline, which real kernels hardly reach. `from`: the device;
// nullptr: by its name in the trace.
//
// NotFound: the trace has no such kernels, or the peaks of its device are unknown. InvalidArgument:
// a density that is not above 0 and at most 1, or a block below 1.
Question blockSparsity(BlockSparsity of, const models::DevicePeaks* from);

}  // namespace sonde::engine::whatif
