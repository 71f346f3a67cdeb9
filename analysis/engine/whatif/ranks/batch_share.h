// Ranks that get more or fewer samples of a batch. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

namespace sonde::engine::whatif {

// Each rank works on `factor` times as many samples. All computing and loading takes as much
// longer: kernels, or the time of threads where the job uses no devices. Optimizers do not depend
// on the batch. NotFound: the trace has no work.
Result<void> shareBatch(Asking& asking, double factor);

}  // namespace sonde::engine::whatif
