// Asks how long an iteration takes if several jobs of the same model run as one, as when they
// search for hyper-parameters (HFTA: Wang et al., "Horizontally Fused Training Array", MLSys 2021).
// Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <string>

namespace sonde::engine::whatif {

struct FusedJobs {
  std::int64_t jobs = 2;
  std::string device = {};  // such as "H100"; empty: by its name in the trace
};

// Each kernel does the work of all jobs in one launch: in waves(jobs · blocks) / waves(blocks)
// times its time (kernel_waves.h), or in `jobs` times if its shape is not recorded. Copies take
// `jobs` times as long, and collectives move as many times the bytes. Launches and the host's other
// time stay. A note states the throughput.
//
// NotFound: the trace has no kernels, none of them has a recorded shape, or the device is unknown.
// InvalidArgument: fewer than two jobs, or no such device is known.
Question fusedJobs(FusedJobs of);

}  // namespace sonde::engine::whatif
