// A kind of training step on every GPU of the machine, for tests of the CUDA probe on real GPUs:
// streams, events, copies from both kinds of host memory, a graph, annotations. The backward pass
// is open on one thread and launches on another. Prints the number of launches of each kernel.
#include "plugins/api/sonde.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define CHECK(call)                                                       \
  do {                                                                    \
    const cudaError_t error = (call);                                     \
    if (error != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(3);                                                       \
    }                                                                     \
  } while (false)

namespace {

constexpr int kSteps = 10;
constexpr int kElements = 1 << 20;
constexpr int kThreads = 256;

__device__ void spin(float* values, int rounds) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= kElements)
    return;
  for (int round = 0; round < rounds; ++round)
    values[at] = values[at] * 1.0001F + 0.5F;
}

}  // namespace

__global__ void forwardKernel(float* values) {
  spin(values, 50);
}
__global__ void backwardKernel(float* values) {
  spin(values, 100);
}
__global__ void optimizerKernel(float* values) {
  spin(values, 10);
}
// Takes one thread and a millisecond; meanwhile the backward pass begins on the other stream.
__global__ void sideKernel(float* values) {
  unsigned long long begin = 0;
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < 1'000'000);
  values[0] += 1;
}
__global__ void graphKernel(float* values) {
  spin(values, 20);
}

namespace {

constexpr int kBlocks = kElements / kThreads;

struct Device {
  float* values = nullptr;
  float* side = nullptr;
  float* pinned = nullptr;
  std::vector<float> pageable = std::vector<float>(kElements);
  cudaStream_t main = nullptr;
  cudaStream_t other = nullptr;
  cudaEvent_t ready = nullptr;
  cudaGraphExec_t graph = nullptr;
};

void prepare(Device& device) {
  constexpr std::size_t kBytes = kElements * sizeof(float);
  CHECK(cudaMalloc(&device.values, kBytes));
  CHECK(cudaMalloc(&device.side, kBytes));
  CHECK(cudaMallocHost(&device.pinned, kBytes));
  CHECK(cudaStreamCreate(&device.main));
  CHECK(cudaStreamCreate(&device.other));
  CHECK(cudaEventCreate(&device.ready));
  CHECK(cudaMemset(device.values, 0, kBytes));
  CHECK(cudaMemset(device.side, 0, kBytes));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(device.main, cudaStreamCaptureModeThreadLocal));
  for (int node = 0; node < 3; ++node)
    graphKernel<<<kBlocks, kThreads, 0, device.main>>>(device.values);
  CHECK(cudaStreamEndCapture(device.main, &graph));
  CHECK(cudaGraphInstantiate(&device.graph, graph, 0));
}

void step(int ordinal, Device& device) {
  constexpr std::size_t kBytes = kElements * sizeof(float);
  CHECK(cudaMemcpyAsync(device.values, device.pinned, kBytes, cudaMemcpyHostToDevice, device.main));
  sonde_scope scope = sonde_begin(SONDE_FORWARD, "forward");
  forwardKernel<<<kBlocks, kThreads, 0, device.main>>>(device.values);
  CHECK(cudaEventRecord(device.ready, device.main));
  sonde_end(scope);
  CHECK(cudaStreamWaitEvent(device.other, device.ready, 0));
  sideKernel<<<1, 1, 0, device.other>>>(device.side);
  scope = sonde_begin(SONDE_BACKWARD, "backward");
  std::thread([&] {
    CHECK(cudaSetDevice(ordinal));
    backwardKernel<<<kBlocks, kThreads, 0, device.main>>>(device.values);
  }).join();
  sonde_end(scope);
  scope = sonde_begin(SONDE_OPTIMIZER, "optimizer");
  optimizerKernel<<<kBlocks, kThreads, 0, device.main>>>(device.values);
  CHECK(cudaGraphLaunch(device.graph, device.main));
  sonde_end(scope);
  CHECK(cudaStreamSynchronize(device.main));
  CHECK(cudaMemcpy(device.pageable.data(), device.values, kBytes, cudaMemcpyDeviceToHost));
}

}  // namespace

int main() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  std::vector<Device> devices(static_cast<std::size_t>(count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CHECK(cudaSetDevice(ordinal));
    prepare(devices[static_cast<std::size_t>(ordinal)]);
  }
  for (int number = 0; number < kSteps; ++number) {
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "step");
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      CHECK(cudaSetDevice(ordinal));
      step(ordinal, devices[static_cast<std::size_t>(ordinal)]);
    }
    sonde_end(iteration);
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CHECK(cudaSetDevice(ordinal));
    CHECK(cudaDeviceSynchronize());
  }
  std::printf("{\"devices\": %d, \"steps\": %d}\n", count, kSteps);
  return 0;
}
