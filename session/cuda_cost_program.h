// How long calls of CUDA's driver take, for what it costs to record them (cost_loops.h): with
// CUPTI's records and without. On the GPU of the job's rank, in a context of its own.
#pragma once

namespace sonde::session {

// To stdout, as printCosts(). `cupti`: the library that recorded the job, so that it records this,
// too; `localRank`: of the job. Nothing without that library, or where there is no GPU. Ends the
// program when a call fails, or who started it is gone.
void printCudaCosts(const char* cupti, const char* localRank);

}  // namespace sonde::session
