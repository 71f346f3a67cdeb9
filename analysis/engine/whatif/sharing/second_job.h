// Asks how much of its devices a job leaves to a second job in the background, and what that costs
// it (DeepPool: Park et al., "Efficient Strong Scaling Through Burst Parallel Training", MLSys
// 2022); or how long iterations take if the same job runs twice at once (two_waves.h). Plain
// functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <optional>

namespace sonde::engine::whatif {

struct SecondJob {
  // How much longer a kernel takes beside the other job's: 0.3 is 30 %. nullopt: as much as beside
  // collectives, as measured (overlap_penalty.h).
  std::optional<double> slowdown = {};
  bool isWave = false;  // the same job a second time, half an iteration later
};

// The second job has the device while no kernel of this one runs, in gaps at least as long as this
// job's median kernel. Its last kernel there is still running when the gap ends: by half of a
// median kernel, and this job's next kernel is slower for that time. Notes state the second job's
// share and the throughput of both.
//
// NotFound: the trace has no kernels in iterations, or the slow-down is neither given nor measured.
// InvalidArgument: it is negative, or given with isWave.
Question secondJob(SecondJob of);

}  // namespace sonde::engine::whatif
