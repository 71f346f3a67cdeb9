#include "tests/targets/cuda/cuda_counted.h"

#include <dlfcn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <thread>
#include <vector>

namespace counted {
namespace {

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

// A capture ends only through its own end.
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

// Its wait is not over when the other device's profiler comes.
void profileElsewhere() {
  launchHeld();
  check(cudaSetDevice(1));
  profile();
  check(cudaSetDevice(0));
  cudasimRelease();
}

// More captures at once than Sonde can track.
void captureMany() {
  std::vector<cudaStream_t> streams(70);
  for (cudaStream_t& stream : streams)
    beginCapture(&stream);
  for (cudaStream_t stream : streams) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream, &graph));
  }
}

void changeUser() {
  if (setuid(getuid()) != 0)
    std::exit(6);
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

// The default stream is per thread here, so no other thread can ask the driver about it.
void breakDefaultCapture() {
  check(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed));
  if (cudaDeviceSynchronize() == cudaSuccess)
    std::exit(6);
}

void pause() {
  const char* const file = std::getenv("CUDA_COUNTED_GO");
  for (int waited = 0; file != nullptr && access(file, F_OK) != 0; ++waited) {
    if (waited == 6000)
      std::exit(8);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// The file NAME.reached shows that the program is about to wait for the other one.
void sayReached() {
  if (const char* const file = std::getenv("CUDA_COUNTED_GO"); file != nullptr)
    const std::ofstream reached(std::string(file) + ".reached");
}

void standStill() {
  sayReached();
  pause();
}

void waitForGo() {
  std::thread other([] {
    pause();
    cudasimRelease();
  });
  const Scope scope(SONDE_OPERATION, "held");
  check(cudaLaunchKernel(cudasimHeldKernel("held"), dim3{1}, dim3{64}, nullptr, 0, gStream));
  sayReached();
  sonde_end(sonde_begin(SONDE_OPERATION, "waits"));
  other.join();
}

}  // namespace

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

void happen(const std::string& event) {
  const std::map<std::string, std::function<void()>> events = {
      {"abandon", abandonCapture},
      {"break", breakCapture},
      {"break default", breakDefaultCapture},
      {"client", subscribe},
      {"context", makeSecondContext},
      {"fork", forkChild},
      {"go", waitForGo},
      {"handler", exitInHandler},
      {"many", captureMany},
      {"pause", standStill},
      {"profiler", profile},
      {"profiler elsewhere", profileElsewhere},
      {"reset", reset},
      {"setuid", changeUser},
      {"steal", endAnotherCapture},
      {"stuck", waitInVain},
      {"unfinished", [] { std::exit(0); }},
      {"vanish", vanish},
  };
  if (const auto found = events.find(event); found != events.end())
    found->second();
}

}  // namespace counted
