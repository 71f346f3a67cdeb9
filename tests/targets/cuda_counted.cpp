// A training loop whose iterations differ, on simulated devices, for hardware counters: operations
// in operations, work launched by another thread, a stream that is captured across operations, and
// work before and after. Usage: cuda_counted ITERATIONS [DEVICES [OPERATIONS [EVENT]]]: with
// OPERATIONS each iteration has so many further ones; EVENT happens in the middle of the third:
//   client      another tool subscribes to CUPTI
//   profiler    the job enables CUPTI's range profiler
//   reset       of the device
//   fork        of a child that annotates
//   elsewhere   the iteration is ended by another thread
//   unfinished  the process ends
//   handler     it ends in a signal handler, while the device is waited for
//   steal       a capture is ended that never began, while another goes on
//   abandon     a stream is destroyed while it is captured
//   break       a capture is broken, and never ended
//   stuck       a kernel waits for what the measured thread does next
//   context     a second one of the device is there from then on, and has work in each iteration
//   pause       the program waits for the file of the name $CUDA_COUNTED_GO
//   vanish      the device is reset by another thread, while such a kernel is waited for
//   setuid      the process takes the user that it has
#include "plugins/api/sonde.h"
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

cudaStream_t gStream = nullptr;

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "cuda_counted: %s\n", cudaGetErrorString(error));
    std::exit(3);
  }
}

void launch(const std::string& name, unsigned blocks, cudaStream_t stream) {
  check(cudaLaunchKernel(
      cudasimKernel(name.c_str(), 20000 * blocks), dim3{blocks}, dim3{64}, nullptr, 0, stream));
}

class Scope {
 public:
  Scope(std::uint32_t kind, const char* name) : scope_(sonde_begin(kind, name)) {}
  ~Scope() { sonde_end(scope_); }

 private:
  sonde_scope scope_;
};

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

void subscribe() {
  void* const cupti = dlopen("libcupti.so." CUDA_MAJOR, RTLD_LAZY);
  const auto subscribe =
      cupti == nullptr
          ? nullptr
          : reinterpret_cast<int (*)(void**, void (*)(void*, int, unsigned, const void*), void*)>(
                dlsym(cupti, "cuptiSubscribe"));
  void* subscriber = nullptr;
  if (subscribe == nullptr ||
      subscribe(
          &subscriber, [](void*, int, unsigned, const void*) {}, nullptr) != 0) {
    std::fprintf(stderr, "cuda_counted: the other tool gets no subscription\n");
    std::exit(4);
  }
}

// The job's own range profiler.
void profile() {
  struct Initialize {
    std::size_t bytes;
    void* reserved;
  } initialize{sizeof(Initialize), nullptr};
  struct Enable {
    std::size_t bytes;
    void* reserved;
    void* context;
    void* object;
  } enable{sizeof(Enable), nullptr, nullptr, nullptr};
  void* const cupti = dlopen("libcupti.so." CUDA_MAJOR, RTLD_LAZY);
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  const auto current = reinterpret_cast<int (*)(void**)>(dlsym(driver, "cuCtxGetCurrent"));
  const auto start =
      reinterpret_cast<int (*)(Initialize*)>(dlsym(cupti, "cuptiProfilerInitialize"));
  const auto begin = reinterpret_cast<int (*)(Enable*)>(dlsym(cupti, "cuptiRangeProfilerEnable"));
  if (current(&enable.context) != 0 || start(&initialize) != 0 || begin(&enable) != 0) {
    std::fprintf(stderr, "cuda_counted: the job gets no range profiler\n");
    std::exit(4);
  }
}

void reset() {
  check(cudaDeviceReset());
  check(cudaStreamCreate(&gStream));
}

void forkChild() {
  const pid_t child = fork();
  if (child == 0) {
    {
      const Scope iteration(SONDE_ITERATION, "of child");
      const Scope scope(SONDE_OPERATION, "in child");
    }
    std::exit(0);
  }
  int status = 1;
  if (waitpid(child, &status, 0) != child || status != 0)
    std::exit(5);
}

void exitInHandler() {
  signal(SIGALRM, [](int) { std::exit(7); });
  itimerval soon{};
  soon.it_value.tv_usec = 300'000;
  setitimer(ITIMER_REAL, &soon, nullptr);
  const Scope scope(SONDE_OPERATION, "long");
  launch("slow", 100'000, gStream);  // 2 s
}

// Only a capture's own end ends it.
void endAnotherCapture() {
  cudaStream_t other = nullptr;
  cudaGraph_t graph = nullptr;
  check(cudaStreamCreate(&other));
  check(cudaStreamBeginCapture(gStream, cudaStreamCaptureModeRelaxed));
  if (cudaStreamEndCapture(other, &graph) == cudaSuccess)
    std::exit(6);
  {
    const Scope scope(SONDE_OPERATION, "captured");
    launch("node", 1, gStream);
  }
  check(cudaStreamEndCapture(gStream, &graph));
}

void beginCapture(cudaStream_t* stream) {
  check(cudaStreamCreate(stream));
  check(cudaStreamBeginCapture(*stream, cudaStreamCaptureModeRelaxed));
}

void abandonCapture() {
  cudaStream_t other = nullptr;
  beginCapture(&other);
  check(cudaStreamDestroy(other));
}

void breakCapture() {
  cudaStream_t other = nullptr;
  beginCapture(&other);
  if (cudaDeviceSynchronize() == cudaSuccess)
    std::exit(6);
}

void launchHeld() {
  const Scope scope(SONDE_OPERATION, "held");
  check(cudaLaunchKernel(cudasimHeldKernel("held"), dim3{1}, dim3{64}, nullptr, 0, gStream));
}

void waitInVain() {
  launchHeld();
  cudasimRelease();
}

void vanish() {
  std::thread other([] {
    check(cudaSetDevice(0));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    check(cudaDeviceReset());
  });
  launchHeld();
  cudasimRelease();
  other.join();
  check(cudaStreamCreate(&gStream));
}

void* gSecond = nullptr;

template <typename Function>
Function driver(const char* name) {
  return reinterpret_cast<Function>(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), name));
}

void makeSecondContext() {
  void* first = nullptr;
  driver<int (*)(void**)>("cuCtxGetCurrent")(&first);
  if (driver<int (*)(void**, void*, unsigned, int)>("cuCtxCreate_v4")(&gSecond, nullptr, 0, 0) != 0)
    std::exit(6);
  driver<int (*)(void*)>("cuCtxSetCurrent")(first);
}

void inSecondContext() {
  if (gSecond == nullptr)
    return;
  void* first = nullptr;
  driver<int (*)(void**)>("cuCtxGetCurrent")(&first);
  const auto use = driver<int (*)(void*)>("cuCtxSetCurrent");
  const Scope scope(SONDE_OPERATION, "aside");
  use(gSecond);
  for (int count = 0; count < 3; ++count)
    launch("aside", 50, nullptr);
  use(first);
}

void pause() {
  const char* const file = std::getenv("CUDA_COUNTED_GO");
  for (int waited = 0; file != nullptr && access(file, F_OK) != 0; ++waited) {
    if (waited == 6000)
      std::exit(8);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void happen(const std::string& event) {
  if (event == "client")
    subscribe();
  else if (event == "profiler")
    profile();
  else if (event == "reset")
    reset();
  else if (event == "fork")
    forkChild();
  else if (event == "handler")
    exitInHandler();
  else if (event == "steal")
    endAnotherCapture();
  else if (event == "abandon")
    abandonCapture();
  else if (event == "break")
    breakCapture();
  else if (event == "stuck")
    waitInVain();
  else if (event == "vanish")
    vanish();
  else if (event == "context")
    makeSecondContext();
  else if (event == "pause")
    pause();
  else if (event == "setuid")
    check(setuid(getuid()) == 0 ? cudaSuccess : cudaErrorUnknown);
  else if (event == "unfinished")
    std::exit(0);
}

}  // namespace

int main(int count, char** arguments) {
  const int iterations = count > 1 ? std::atoi(arguments[1]) : 1;
  const int devices = count > 2 ? std::atoi(arguments[2]) : 1;
  const int operations = count > 3 ? std::atoi(arguments[3]) : 0;
  const std::string event = count > 4 ? arguments[4] : "";
  check(cudaStreamCreate(&gStream));
  launch("before", 1, gStream);
  for (int number = 0; number < iterations; ++number) {
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "train");
    forward(number);
    if (number == 2)
      happen(event);
    backward();
    if (number % 2 == 1)
      capture();
    onOtherDevices(devices);
    if (number > 2)  // one that comes is prepared for at the begin of an iteration
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
