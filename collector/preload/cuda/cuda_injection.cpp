// InitializeInjection: the CUDA driver calls it in the library that CUDA_INJECTION64_PATH names.
#include "collector/core/emit.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"
#include "collector/preload/cuda/cuda_capture.h"
#include "collector/wire/calibration.h"

#include <dlfcn.h>

#include <cstdlib>

namespace sonde::preload::cuda {
namespace {

// If the probe is off in all iterations, CUPTI is not loaded: it is most of the probe's cost.
bool isSource() noexcept {
  if (!core::attached())
    return false;
  constexpr std::uint32_t kCuda = wire::probeBit(wire::Probe::Cuda);
  const wire::CalibrationRule& rule = core::gSpool.session->calibration;
  const bool isAlwaysOff = rule.always != 0 && (rule.maskable & kCuda) != 0;
  return (core::gSpool.session->probeMask & kCuda) != 0 && !isAlwaysOff;
}

// The tool that CUDA_INJECTION64_PATH named before the recorder replaced it with Sonde. It came
// first, so it gets CUPTI.
int otherTool() noexcept {
  const char* const path = std::getenv("SONDE_CHAIN_CUDA");
  if (path == nullptr || *path == '\0')
    return 0;
  void* const library = dlopen(path, RTLD_LAZY);
  const auto initialize = library == nullptr
                              ? nullptr
                              : reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  return initialize == nullptr ? 0 : initialize();
}

}  // namespace
}  // namespace sonde::preload::cuda

SONDE_EXPORT int InitializeInjection() {
  if (sonde::preload::cuda::otherTool() != 0)
    sonde::preload::cuda::handOver("InitializeInjection");
  if (sonde::preload::cuda::isSource())
    sonde::preload::cuda::start();
  return 1;
}
