// Training steps on four streams of a simulated device, tied by events: batches are copied one step
// ahead, gradients are reduced while the backward pass goes on, and results are copied back. The
// durations differ from step to step, and so does what a step has to wait for. Usage:
// cuda_streams STEPS [UNIT_NS [ahead]]
// A step takes about 32 UNIT_NS. ahead: the host waits for the step before the current one.
#include "plugins/api/sonde.h"
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int kLayers = 4;
constexpr std::size_t kBytes = 1 << 20;

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "cuda_streams: %s\n", cudaGetErrorString(error));
    std::exit(3);
  }
}

std::uint64_t gUnitNs = 200'000;

// So many units, and up to 5 % more or less.
std::uint64_t about(std::uint64_t units) {
  static std::uint64_t state = 1;
  state = state * 6364136223846793005 + 1442695040888963407;
  const std::uint64_t most = units * gUnitNs / 20;
  return units * gUnitNs - most + (state >> 33) % (2 * most + 1);
}

class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  }
  void launch(const char* name, std::uint64_t units) {
    check(cudaLaunchKernel(
        cudasimKernel(name, about(units)), dim3{64}, dim3{128}, nullptr, 0, stream_));
  }
  void copy(void* to, const void* from, std::uint64_t units) {
    cudasimNextDuration(about(units));
    check(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDefault, stream_));
  }
  // Waits for all that the other one has to do by now.
  void waitFor(Stream& other) {
    check(cudaEventRecord(other.event_, other.stream_));
    check(cudaStreamWaitEvent(stream_, other.event_, 0));
  }
  cudaStream_t get() { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

struct Streams {
  Stream loads;
  Stream compute;
  Stream reduction;
  Stream results;
};

struct Memory {
  void* host = nullptr;
  void* device = nullptr;

  Memory() {
    check(cudaMallocHost(&host, kBytes));
    check(cudaMalloc(&device, kBytes));
  }
};

void step(Streams& on, const Memory& memory) {
  on.compute.waitFor(on.loads);
  on.loads.copy(memory.device, memory.host, 31);  // the next step's
  for (int layer = 0; layer < kLayers; ++layer)
    on.compute.launch("forward", 2);
  for (int layer = 0; layer < kLayers; ++layer) {
    on.compute.launch("backward", 4);
    on.reduction.waitFor(on.compute);
    on.reduction.launch("all_reduce", 4);
  }
  on.compute.waitFor(on.reduction);
  on.results.waitFor(on.compute);  // and so for the reduction, too
  on.results.copy(memory.host, memory.device, 2);
  on.compute.launch("optimizer", 2);
  on.results.waitFor(on.compute);
  on.results.copy(memory.host, memory.device, 1);
}

// Ends a step: the host waits for the results of this one, or of the one before.
class Ending {
 public:
  explicit Ending(bool ahead) : ahead_(ahead) {
    for (cudaEvent_t& event : events_)
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  void wait(Stream& results) {
    const int number = steps_++;
    check(cudaEventRecord(events_[number % 2], results.get()));
    if (ahead_)
      check(cudaEventSynchronize(events_[(number + 1) % 2]));
    else if (number % 4 < 2)
      check(cudaEventSynchronize(events_[number % 2]));
    else
      check(cudaStreamSynchronize(results.get()));
  }

 private:
  bool ahead_;
  int steps_ = 0;
  cudaEvent_t events_[2] = {};
};

}  // namespace

int main(int count, char** arguments) {
  const int steps = count > 1 ? std::atoi(arguments[1]) : 60;
  if (count > 2)
    gUnitNs = static_cast<std::uint64_t>(std::atoi(arguments[2]));
  Streams on;
  const Memory memory;
  Ending ending(count > 3 && std::string_view(arguments[3]) == "ahead");
  on.loads.copy(memory.device, memory.host, 31);
  for (int number = 0; number < 2; ++number) {  // not marked: they are waited for in other ways
    step(on, memory);
    ending.wait(on.results);
  }
  for (int number = 0; number < steps; ++number) {
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "train");
    step(on, memory);
    ending.wait(on.results);
    sonde_end(iteration);
  }
  check(cudaDeviceSynchronize());
  return 0;
}
