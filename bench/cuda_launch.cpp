// Measures the cost of a kernel launch on the simulated device, beside two clock reads in the same
// loop. Usage, with and without `sonde run --` in front: cuda_launch [BATCHES]. Prints the median
// over batches of 2,000 launches, and the lower and upper tenth, in ns.
#include "bench/batches.h"
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>

#include <cstdlib>

namespace {

constexpr int kLaunches = 2000;

}  // namespace

int main(int count, char** arguments) {
  using namespace sonde::bench;
  const int batches = count > 1 ? std::atoi(arguments[1]) : 200;
  const void* const kernel = cudasimKernel("kernel", 10);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  std::vector<double> launches;
  std::vector<double> reads;
  for (int batch = 0; batch < batches; ++batch) {
    launches.push_back(nsEach(kLaunches, [&](int) {
      cudaLaunchKernel(kernel, dim3{1, 1, 1}, dim3{32, 1, 1}, nullptr, 0, stream);
    }));
    reads.push_back(nsOfTwoClockReads(kLaunches));
    cudaStreamSynchronize(stream);
  }
  print("launch", launches);
  print("two clock reads", reads);
  return 0;
}
