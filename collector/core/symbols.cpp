#include "collector/core/hooks.h"
#include "collector/core/symbol_versions.h"

#include <dlfcn.h>

namespace sonde::core {

void* nextSymbol(const char* name, const char* version) noexcept {
  if (version != nullptr) {
    if (void* versioned = dlvsym(RTLD_NEXT, name, version); versioned != nullptr)
      return versioned;
  }
  return dlsym(RTLD_NEXT, name);
}

}  // namespace sonde::core
