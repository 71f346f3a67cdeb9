// A training loop whose iterations differ, on simulated devices, for hardware counters: operations
// in operations, work launched by another thread, a stream that is captured across operations, and
// work before and after. Usage:
// cuda_counted ITERATIONS [DEVICES [OPERATIONS [EVENT [LATER]]]]
// OPERATIONS: number of further operations in each iteration. EVENT happens in the middle of the
// third, LATER of the fifth:
//   client      another tool subscribes to CUPTI
//   profiler    the job enables CUPTI's range profiler
//   profiler elsewhere  the same for the second device, while the first one waits for the host
//   reset       of the device
//   fork        of a child that annotates
//   elsewhere   the iteration is ended by another thread
//   unfinished  the process ends
//   handler     it ends in a signal handler, while the device is waited for
//   steal       a capture is ended that never began, while another goes on
//   abandon     a stream is destroyed while it is captured
//   break       a capture is broken, and never ended
//   break default       the same of the default stream
//   many        70 streams are captured at once
//   stuck       a kernel waits for the measured thread's next action
//   context     the device gets a second context, which has work in each iteration from then on
//   go          a kernel waits for the file of the name $CUDA_COUNTED_GO
//   pause       the program waits for the file of the name $CUDA_COUNTED_GO
//   vanish      another thread resets the device, while such a kernel is waited for
//   setuid      the process sets its user to the current one
#include "tests/targets/cuda/cuda_counted.h"

#include <thread>

namespace counted {
namespace {

void forward(int number) {
  const Scope scope(SONDE_FORWARD, "forward");
  launch("embed", 1, gStream);
  for (int layer = 0; layer <= number % 3; ++layer) {  // no two iterations in a row are alike
    const Scope inner(SONDE_OPERATION, "layer");
    launch("gemm", 2, gStream);
    launch("bias", 1, nullptr);
  }
  launch("head", 3, gStream);
}

void backward() {
  const Scope scope(SONDE_BACKWARD, "backward");
  std::thread([] {
    check(cudaSetDevice(0));
    launch("gradient", 4, gStream);
  }).join();
}

// Waiting for the device would break the capture.
void capture() {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check(cudaStreamBeginCapture(gStream, cudaStreamCaptureModeGlobal));
  {
    const Scope scope(SONDE_OPERATION, "captured");
    launch("node", 1, gStream);
  }
  check(cudaStreamEndCapture(gStream, &graph));
  check(cudaGraphInstantiate(&ready, graph, 0));
  const Scope scope(SONDE_OPERATION, "replay");
  check(cudaGraphLaunch(ready, gStream));
}

void onOtherDevices(int devices) {
  for (int device = 1; device < devices; ++device) {
    const Scope scope(SONDE_OPERATION, "elsewhere");
    check(cudaSetDevice(device));
    launch("far", static_cast<unsigned>(device) + 1, nullptr);
  }
  check(cudaSetDevice(0));
}

}  // namespace
}  // namespace counted

int main(int count, char** arguments) {
  using namespace counted;
  const int iterations = count > 1 ? std::atoi(arguments[1]) : 1;
  const int devices = count > 2 ? std::atoi(arguments[2]) : 1;
  const int operations = count > 3 ? std::atoi(arguments[3]) : 0;
  const std::string event = count > 4 ? arguments[4] : "";
  const std::string later = count > 5 ? arguments[5] : "";
  check(cudaStreamCreate(&gStream));
  launch("before", 1, gStream);
  for (int number = 0; number < iterations; ++number) {
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "train");
    forward(number);
    if (number == 2)
      happen(event);
    if (number == 4)
      happen(later);
    backward();
    if (number % 2 == 1)
      capture();
    onOtherDevices(devices);
    if (number > 2)  // a new context is prepared at the begin of an iteration
      inSecondContext();
    for (int at = 0; at < operations; ++at) {
      const Scope scope(SONDE_OPERATION, "small");
      launch("tiny", 1, gStream);
    }
    launch("optimizer", 1, gStream);
    if (event == "elsewhere" && number == 2)
      std::thread([iteration] { sonde_end(iteration); }).join();
    else
      sonde_end(iteration);
  }
  launch("after", 1, gStream);
  check(cudaDeviceSynchronize());
  return 0;
}
