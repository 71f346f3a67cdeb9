#include "session/cuda_cost_program.h"

#include "plugins/api/sonde.h"
#include "session/cost_batches.h"

#include <dlfcn.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>

namespace sonde::session {
namespace {

using Status = int;  // CUresult; 0: success

// An empty kernel, for whatever GPU there is: the driver compiles it.
constexpr char kKernel[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";

// The driver's functions, looked up by name: neither CUDA's headers nor its libraries are needed to
// build Sonde.
struct Driver {
  Status (*init)(unsigned flags);
  Status (*deviceCount)(int* count);
  Status (*device)(int* device, int ordinal);
  Status (*retainContext)(void** context, int device);
  Status (*setContext)(void* context);
  Status (*loadModule)(void** module, const void* image);
  Status (*function)(void** function, void* module, const char* name);
  Status (*createStream)(void** stream, unsigned flags);
  Status (*synchronize)(void* stream);
  Status (*createEvent)(void** event, unsigned flags);
  Status (*recordEvent)(void* event, void* stream);
  Status (*launch)(void* function,
                   unsigned gridX,
                   unsigned gridY,
                   unsigned gridZ,
                   unsigned blockX,
                   unsigned blockY,
                   unsigned blockZ,
                   unsigned sharedBytes,
                   void* stream,
                   void** parameters,
                   void** extra);
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<Driver> findDriver() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY);
  Driver driver{};
  const bool found = library != nullptr && find(library, "cuInit", driver.init) &&
                     find(library, "cuDeviceGetCount", driver.deviceCount) &&
                     find(library, "cuDeviceGet", driver.device) &&
                     find(library, "cuDevicePrimaryCtxRetain", driver.retainContext) &&
                     find(library, "cuCtxSetCurrent", driver.setContext) &&
                     find(library, "cuModuleLoadData", driver.loadModule) &&
                     find(library, "cuModuleGetFunction", driver.function) &&
                     find(library, "cuStreamCreate", driver.createStream) &&
                     find(library, "cuStreamSynchronize", driver.synchronize) &&
                     find(library, "cuEventCreate", driver.createEvent) &&
                     find(library, "cuEventRecord", driver.recordEvent) &&
                     find(library, "cuLaunchKernel", driver.launch);
  return found ? std::optional(driver) : std::nullopt;
}

struct Launching {
  void* stream = nullptr;
  void* kernel = nullptr;
  void* event = nullptr;
};

std::optional<Launching> prepare(const Driver& driver, const char* localRank) {
  constexpr unsigned kNonBlocking = 1;    // CU_STREAM_NON_BLOCKING
  constexpr unsigned kDisableTiming = 2;  // CU_EVENT_DISABLE_TIMING
  Launching launching;
  int count = 0;
  int device = 0;
  void* context = nullptr;
  void* module = nullptr;
  const bool done = driver.init(0) == 0 && driver.deviceCount(&count) == 0 && count > 0 &&
                    driver.device(&device, std::max(std::atoi(localRank), 0) % count) == 0 &&
                    driver.retainContext(&context, device) == 0 &&
                    driver.setContext(context) == 0 && driver.loadModule(&module, kKernel) == 0 &&
                    driver.function(&launching.kernel, module, "nothing") == 0 &&
                    driver.createStream(&launching.stream, kNonBlocking) == 0 &&
                    driver.createEvent(&launching.event, kDisableTiming) == 0;
  return done ? std::optional(launching) : std::nullopt;
}

}  // namespace

// In an iteration, as printCosts().
void printCudaCosts(const char* cupti, const char* localRank) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a driver may hang
  // The CUDA probe takes the copy that is mapped.
  const auto driver = dlopen(cupti, RTLD_LAZY) != nullptr ? findDriver() : std::nullopt;
  const auto launching = driver ? prepare(*driver, localRank) : std::nullopt;
  if (!launching)
    return;
  const auto launch = [&] {
    if (driver->launch(
            launching->kernel, 1, 1, 1, 32, 1, 1, 0, launching->stream, nullptr, nullptr) != 0)
      std::exit(1);
  };
  const auto record = [&] {
    if (driver->recordEvent(launching->event, launching->stream) != 0)
      std::exit(1);
  };
  const auto settle = [&] {
    if (driver->synchronize(launching->stream) != 0)
      std::exit(1);
  };
  launch();  // loads the kernel
  settle();
  const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "cost");
  cost::print("cuda", "launch", cost::nsOf(launch, settle));
  cost::print("cuda", "call", cost::nsOf(record, settle));
  sonde_end(iteration);
}

}  // namespace sonde::session
