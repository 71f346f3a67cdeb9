// The same job twice on its devices, half an iteration apart, so that the forward pass of one meets
// the backward pass of the other (Wavelet: Wang et al., "Efficient DNN Training with Tick-Tock
// Scheduling", MLSys 2021). Uses the database's thread.
#pragma once

#include "analysis/engine/memory/memory_levels.h"
#include "analysis/engine/whatif/question.h"
#include "analysis/engine/whatif/sharing/long_run.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

// Copies the whole job. Kernels of a stream and of its copy take turns: who asked first runs first.
// So do the collectives of a process and of its copy, of which as many run at once as when
// measured. The second job has processors and copy engines of its own. Iterations are those of the
// first. `run` is that of one job. For Asking::afterwards. InvalidArgument: another question has
// changed the number of ranks.
Result<void> runTwoWaves(Asking& asking, const LongRun& run);

// The peak of both, if the second one holds the same as the first `shiftNs` later. Requires: levels
// by time, not empty. `baseBytes`: before the first one.
std::int64_t peakOfTwo(const std::vector<metrics::MemoryLevel>& levels,
                       std::int64_t baseBytes,
                       std::int64_t shiftNs);

}  // namespace sonde::engine::whatif
