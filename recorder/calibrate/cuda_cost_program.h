// Times calls of CUDA's driver with CUPTI's records and without, for the cost of recording them
// (cost_loops.h). Uses the job's GPU, in a separate context.
#pragma once

namespace sonde::recorder {

// Prints to stdout, as printCosts(). `cupti`: the library that recorded the job, so that it records
// this program too. `gpu`: its UUID. Prints nothing without that library or GPU. Ends the program
// if a call fails, or if the process that started it is gone.
void printCudaCosts(const char* cupti, const char* gpu);

}  // namespace sonde::recorder
