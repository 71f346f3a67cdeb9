// How long calls of CUDA's driver take, for what it costs to record them (cost_loops.h): with
// CUPTI's records and without. On the job's GPU, in a context of its own.
#pragma once

namespace sonde::recorder {

// To stdout, as printCosts(). `cupti`: the library that recorded the job, so that it records this,
// too; `gpu`: its UUID. Nothing without that library, or where there is no such GPU. Ends the
// program when a call fails, or who started it is gone.
void printCudaCosts(const char* cupti, const char* gpu);

}  // namespace sonde::recorder
