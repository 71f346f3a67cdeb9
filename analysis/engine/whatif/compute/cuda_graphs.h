// Asks how long an iteration takes if one call launches all its kernels, as CUDA graphs do. Plain
// functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>

namespace sonde::engine::whatif {

struct CudaGraphs {
  std::int64_t launchNs = 10'000;  // of a graph
};

// From the first to the last launch of an iteration, threads do nothing but launch one graph in
// place of the first one. Kernels keep their times. NotFound: no iteration launches several.
// InvalidArgument: a thread waits for its device between two launches, which a graph cannot
// contain; or the time is negative.
Question cudaGraphs(CudaGraphs of);

}  // namespace sonde::engine::whatif
