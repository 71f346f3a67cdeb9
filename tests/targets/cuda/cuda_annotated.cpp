// Trains on a simulated device: one kernel in each place that a scope can come from, and
// allocations. The backward pass is open on the main thread while another thread launches, as in
// autograd.
#include "plugins/api/sonde.h"
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>

#include <thread>

namespace {

void launch(const char* name, cudaStream_t stream) {
  cudaLaunchKernel(cudasimKernel(name, 2000), dim3{1, 1, 1}, dim3{32, 1, 1}, nullptr, 0, stream);
}

// Never freed; the size identifies the allocation.
void allocate(std::size_t bytes) {
  void* memory = nullptr;
  cudaMalloc(&memory, bytes);
}

void graph(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  launch("first_node", stream);
  launch("second_node", stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  const sonde_scope scope = sonde_begin(SONDE_OPERATION, "replay");
  cudaGraphLaunch(ready, stream);
  sonde_end(scope);
}

}  // namespace

int main() {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  launch("unscoped", stream);
  allocate(512);
  const sonde_scope step = sonde_begin(SONDE_OPERATION, "step");
  const sonde_scope forward = sonde_begin(SONDE_FORWARD, "forward");
  launch("in_forward", stream);
  allocate(1024);
  sonde_end(forward);
  const sonde_scope backward = sonde_begin(SONDE_BACKWARD, "backward");
  std::thread([stream] {
    cudaSetDevice(0);
    launch("in_autograd", stream);
    allocate(2048);
  }).join();
  sonde_end(backward);
  launch("in_step", stream);
  graph(stream);
  cudaDeviceSynchronize();
  sonde_end(step);
  return 0;
}
