// What a kernel launch costs on the simulated device, beside two clock reads in the same loop.
// Usage, with and without `sonde run --` in front: cuda_launch [BATCHES]. Prints the median over
// batches of 2,000 launches, and the lower and upper tenth, in ns.
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLaunches = 2000;

double nsEach(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kLaunches;
}

void print(const char* what, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  std::printf("%-16s %7.1f  (%.1f to %.1f)\n", what, at(0.5), at(0.1), at(0.9));
}

}  // namespace

int main(int count, char** arguments) {
  const int batches = count > 1 ? std::atoi(arguments[1]) : 200;
  const void* const kernel = cudasimKernel("kernel", 10);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  std::vector<double> launches;
  std::vector<double> reads;
  for (int batch = 0; batch < batches; ++batch) {
    auto begin = Clock::now();
    for (int at = 0; at < kLaunches; ++at)
      cudaLaunchKernel(kernel, dim3{1, 1, 1}, dim3{32, 1, 1}, nullptr, 0, stream);
    launches.push_back(nsEach(begin));
    begin = Clock::now();
    for (int at = 0; at < kLaunches; ++at) {
      static_cast<void>(Clock::now());
      static_cast<void>(Clock::now());
    }
    reads.push_back(nsEach(begin));
    cudaStreamSynchronize(stream);
  }
  print("launch", launches);
  print("two clock reads", reads);
  return 0;
}
