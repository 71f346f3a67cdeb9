// A training loop of kernels on the simulated device: correction_cuda KERNELS ITERATIONS. Prints
// "mean NS" of an iteration. bench/correction_accuracy.py runs it with Sonde and without.
#include "bench/iteration_stamps.h"
#include "plugins/api/sonde.h"
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
  const int kernels = count > 1 ? std::atoi(arguments[1]) : 100;
  const int iterations = count > 2 ? std::atoi(arguments[2]) : 300;
  const void* const kernel = cudasimKernel("gemm", 4'000);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  IterationStamps stamps = stampsFor(iterations);
  const sonde_scope phase = sonde_begin(SONDE_PHASE, "loop");
  for (int number = 0; number < iterations; ++number) {
    stampsBegin(&stamps);
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "iteration");
    for (int launch = 0; launch < kernels; ++launch) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(6);
      while (std::chrono::steady_clock::now() < until) {
      }
      cudaLaunchKernel(kernel, dim3{1, 1, 1}, dim3{32, 1, 1}, nullptr, 0, stream);
    }
    cudaStreamSynchronize(stream);
    sonde_end(iteration);
    stampsEnd(&stamps);
  }
  sonde_end(phase);
  stampsWrite(&stamps);
  std::printf("mean %.0f\n", stampsMean(&stamps));
  return 0;
}
