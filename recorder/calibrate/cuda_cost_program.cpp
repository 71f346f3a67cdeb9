#include "recorder/calibrate/cuda_cost_program.h"

#include "plugins/api/sonde.h"
#include "recorder/calibrate/cost_batches.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::recorder {
namespace {

using Status = int;  // CUresult; 0: success
using Uuid = std::array<unsigned char, 16>;

// An empty kernel for any GPU: the driver compiles it.
constexpr char kKernel[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";

// The driver's functions, looked up by name, so that Sonde builds without CUDA's headers and
// libraries.
struct Driver {
  Status (*init)(unsigned flags);
  Status (*deviceCount)(int* count);
  Status (*device)(int* device, int ordinal);
  Status (*uuid)(Uuid* uuid, int device);       // of a GPU instance, or …
  Status (*wholeUuid)(Uuid* uuid, int device);  // … of the whole GPU; nullptr: use the other
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
                     find(library, "cuDeviceGetUuid_v2", driver.uuid) &&
                     find(library, "cuDevicePrimaryCtxRetain", driver.retainContext) &&
                     find(library, "cuCtxSetCurrent", driver.setContext) &&
                     find(library, "cuModuleLoadData", driver.loadModule) &&
                     find(library, "cuModuleGetFunction", driver.function) &&
                     find(library, "cuStreamCreate", driver.createStream) &&
                     find(library, "cuStreamSynchronize", driver.synchronize) &&
                     find(library, "cuEventCreate", driver.createEvent) &&
                     find(library, "cuEventRecord", driver.recordEvent) &&
                     find(library, "cuLaunchKernel", driver.launch);
  if (!found)
    return std::nullopt;
  find(library, "cuDeviceGetUuid", driver.wholeUuid);
  return driver;
}

// As in a trace: "GPU-" and groups of hexadecimal digits.
std::string textOf(const Uuid& uuid) {
  const std::string digits = fmt::format("{:02x}", fmt::join(uuid, ""));
  const std::string_view all = digits;
  return fmt::format("GPU-{}-{}-{}-{}-{}",
                     all.substr(0, 8),
                     all.substr(8, 4),
                     all.substr(12, 4),
                     all.substr(16, 4),
                     all.substr(20));
}

// The job's GPU, which may have another number here.
std::optional<int> deviceOf(const Driver& driver, std::string_view gpu) {
  int count = 0;
  if (driver.deviceCount(&count) != 0)
    return std::nullopt;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0;
    Uuid uuid{};
    if (driver.device(&device, ordinal) != 0)
      continue;
    for (const auto ask : {driver.uuid, driver.wholeUuid})
      if (ask != nullptr && ask(&uuid, device) == 0 && textOf(uuid) == gpu)
        return device;
  }
  return std::nullopt;
}

struct Launching {
  void* stream = nullptr;
  void* kernel = nullptr;
  void* event = nullptr;
};

std::optional<Launching> prepare(const Driver& driver, std::string_view gpu) {
  constexpr unsigned kNonBlocking = 1;    // CU_STREAM_NON_BLOCKING
  constexpr unsigned kDisableTiming = 2;  // CU_EVENT_DISABLE_TIMING
  const auto device = driver.init(0) == 0 ? deviceOf(driver, gpu) : std::nullopt;
  if (!device)
    return std::nullopt;
  Launching launching;
  void* context = nullptr;
  void* module = nullptr;
  const bool done = driver.retainContext(&context, *device) == 0 &&
                    driver.setContext(context) == 0 && driver.loadModule(&module, kKernel) == 0 &&
                    driver.function(&launching.kernel, module, "nothing") == 0 &&
                    driver.createStream(&launching.stream, kNonBlocking) == 0 &&
                    driver.createEvent(&launching.event, kDisableTiming) == 0;
  return done ? std::optional(launching) : std::nullopt;
}

}  // namespace

// Measures within an iteration, as printCosts().
void printCudaCosts(const char* cupti, const char* gpu) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // in case the driver hangs
  // The CUDA probe takes the mapped copy.
  const auto driver = dlopen(cupti, RTLD_LAZY) != nullptr ? findDriver() : std::nullopt;
  const auto launching = driver ? prepare(*driver, gpu) : std::nullopt;
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

}  // namespace sonde::recorder
