#include "collector/preload/cuda/cupti/cuda_driver.h"

#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/common/symbol_binder.h"

#include <dlfcn.h>

namespace sonde::preload::cuda {

bool bindDriver(Driver& driver, const char*& missing) noexcept {
  void* const library = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  missing = "libcuda.so.1";
  if (library == nullptr)
    return false;
  const SymbolBinder one{library, missing};
  return one("cuCtxGetCurrent", driver.currentContext) &&
         one("cuCtxSetCurrent", driver.setContext) && one("cuCtxSynchronize", driver.synchronize) &&
         one("cuCtxGetDevice", driver.contextDevice) &&
         one("cuStreamIsCapturing", driver.isCapturing);
}

}  // namespace sonde::preload::cuda
