// Measures the cost of a kernel launch on a GPU, beside two clock reads in the same loop;
// cuda_launch.cpp does the same on the simulated device. Usage, with and without `sonde run --` in
// front: gpu_launch [BATCHES]. Prints the median over batches of 500 launches, which fit into the
// launch queue, and the lower and upper tenth, in ns.
#include "bench/batches.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kLaunches = 500;

__global__ void nothing() {}

}  // namespace

int main(int count, char** arguments) {
  using namespace sonde::bench;
  const int batches = count > 1 ? std::atoi(arguments[1]) : 200;
  cudaStream_t stream = nullptr;
  if (const cudaError_t error = cudaStreamCreate(&stream); error != cudaSuccess) {
    std::fprintf(stderr, "gpu_launch: %s\n", cudaGetErrorString(error));
    return 1;
  }
  std::vector<double> launches;
  std::vector<double> reads;
  for (int batch = -5; batch < batches; ++batch) {
    const double launch = nsEach(kLaunches, [&](int) { nothing<<<1, 32, 0, stream>>>(); });
    const double read = nsOfTwoClockReads(kLaunches);
    if (cudaStreamSynchronize(stream) != cudaSuccess)
      return 1;
    if (batch < 0)
      continue;  // the first ones load the kernel
    launches.push_back(launch);
    reads.push_back(read);
  }
  print("launch", launches);
  print("two clock reads", reads);
  return 0;
}
