// InitializeInjection: what the CUDA driver's cuInit calls in the library that
// CUDA_INJECTION64_PATH names. And CUPTI's functions by which another tool takes CUPTI over.
#include "collector/core/emit.h"
#include "collector/core/hooks.h"
#include "collector/core/spool.h"
#include "collector/core/symbol_versions.h"
#include "collector/core/thread_state.h"
#include "collector/preload/probes/cuda_capture.h"
#include "collector/preload/probes/cupti_library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace sonde::preload::cuda {
namespace {

using cupti::Status;

bool isSource() noexcept {
  return core::attached() &&
         (core::gSpool.session->probeMask >> static_cast<int>(wire::Probe::Cuda) & 1) != 0;
}

// The tool that CUDA_INJECTION64_PATH named before the recorder put Sonde there. It has come first,
// and gets CUPTI.
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

// CUPTI's own function, which the caller's copy of it has.
template <typename Function>
Function real(core::Real<Function>& next, const char* name) noexcept {
  if (Function function = next(); function != nullptr)
    return function;
  void* const library = cupti::mappedLibrary();
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace
}  // namespace sonde::preload::cuda

using sonde::core::Real;
using sonde::preload::cuda::handOver;
using sonde::preload::cuda::real;
namespace cupti = sonde::preload::cupti;

SONDE_EXPORT int InitializeInjection() {
  if (sonde::preload::cuda::otherTool() != 0)
    handOver("InitializeInjection");
  if (sonde::preload::cuda::isSource())
    sonde::preload::cuda::start();
  return 1;
}

SONDE_EXPORT cupti::Status cuptiSubscribe(cupti::Subscriber* subscriber,
                                          cupti::Callback callback,
                                          void* user) {
  using Function = cupti::Status (*)(cupti::Subscriber*, cupti::Callback, void*);
  static constinit Real<Function> next{"cuptiSubscribe"};
  handOver("cuptiSubscribe");
  const Function function = real(next, "cuptiSubscribe");
  return function == nullptr ? cupti::Status::NotInitialized : function(subscriber, callback, user);
}

SONDE_EXPORT cupti::Status cuptiSubscribe_v2(cupti::Subscriber* subscriber,
                                             cupti::Callback callback,
                                             void* user,
                                             void* parameters) {
  using Function = cupti::Status (*)(cupti::Subscriber*, cupti::Callback, void*, void*);
  static constinit Real<Function> next{"cuptiSubscribe_v2"};
  handOver("cuptiSubscribe_v2");
  const Function function = real(next, "cuptiSubscribe_v2");
  return function == nullptr ? cupti::Status::NotInitialized
                             : function(subscriber, callback, user, parameters);
}

SONDE_EXPORT cupti::Status cuptiActivityRegisterCallbacks(cupti::BufferRequested requested,
                                                          cupti::BufferCompleted completed) {
  using Function = cupti::Status (*)(cupti::BufferRequested, cupti::BufferCompleted);
  static constinit Real<Function> next{"cuptiActivityRegisterCallbacks"};
  handOver("cuptiActivityRegisterCallbacks");
  const Function function = real(next, "cuptiActivityRegisterCallbacks");
  return function == nullptr ? cupti::Status::NotInitialized : function(requested, completed);
}

SONDE_EXPORT cupti::Status cuptiActivityRegisterTimestampCallback(cupti::Timestamp timestamp) {
  using Function = cupti::Status (*)(cupti::Timestamp);
  static constinit Real<Function> next{"cuptiActivityRegisterTimestampCallback"};
  handOver("cuptiActivityRegisterTimestampCallback");
  const Function function = real(next, "cuptiActivityRegisterTimestampCallback");
  return function == nullptr ? cupti::Status::NotInitialized : function(timestamp);
}

SONDE_EXPORT cupti::Status cuptiActivityEnable(cupti::Kind kind) {
  using Function = cupti::Status (*)(cupti::Kind);
  static constinit Real<Function> next{"cuptiActivityEnable"};
  handOver("cuptiActivityEnable");
  const Function function = real(next, "cuptiActivityEnable");
  return function == nullptr ? cupti::Status::NotInitialized : function(kind);
}

SONDE_EXPORT cupti::Status cuptiFinalize() {
  using Function = cupti::Status (*)();
  static constinit Real<Function> next{"cuptiFinalize"};
  handOver("cuptiFinalize");
  const Function function = real(next, "cuptiFinalize");
  return function == nullptr ? cupti::Status::NotInitialized : function();
}
