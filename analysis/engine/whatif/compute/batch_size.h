// The question how long an iteration would take with more or fewer samples in each batch. Free
// functions.
#pragma once

#include "analysis/engine/whatif/question.h"

namespace sonde::engine::whatif {

struct BatchSize {
  double factor = 1;  // of the present number of samples
  // The part of loading, forward and backward that does not depend on the number of samples, from 0
  // to 1.
  double fixed = 0;
};

// Loading, forward and backward of an iteration take `fixed + (1 - fixed) * factor` times as long:
// on devices their kernels and copies, elsewhere the threads' own time. Collectives, the optimizer
// and the calls that launch work stay as they are. NotFound: as of readMicroBatches().
Question batchSize(BatchSize of);

}  // namespace sonde::engine::whatif
