#include "collector/core/platform/symbols.h"

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbol_versions.h"

#include <dlfcn.h>

namespace sonde::core {

void* nextSymbol(const char* name, const char* version) noexcept {
  if (version != nullptr) {
    if (void* versioned = dlvsym(RTLD_NEXT, name, version); versioned != nullptr)
      return versioned;
  }
  void* const found = libcDlsym()(RTLD_NEXT, name);
  __asm__ volatile("");  // prevents a jump: the result depends on the caller
  return found;
}

DlsymCall libcDlsym() noexcept {
  static std::atomic<void*> address{nullptr};
  void* known = address.load(std::memory_order_acquire);
  if (known == nullptr) {
#if defined(__x86_64__)
    known = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
#elif defined(__aarch64__)
    known = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
#endif
    address.store(known, std::memory_order_release);
  }
  return reinterpret_cast<DlsymCall>(known);
}

DlsymCall nextDlsym() noexcept {
  static std::atomic<void*> address{nullptr};
  void* known = address.load(std::memory_order_acquire);
  if (known == nullptr) {
    known = libcDlsym()(RTLD_NEXT, "dlsym");
    address.store(known, std::memory_order_release);
  }
  return reinterpret_cast<DlsymCall>(known);
}

}  // namespace sonde::core
