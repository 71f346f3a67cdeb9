#include "collector/preload/gloo/gloo_library.h"

#include "collector/core/emit.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/gloo/gloo_layout.h"
#include "collector/preload/loading/loaded_objects.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace sonde::preload::gloo {
namespace {

constexpr char kSoname[] = "libgloo.so.0";
std::atomic<bool> gCalled{false};  // whether a wrapper has ever run

void* lookUp(const char* name) noexcept {
  // Stays open, because functions found in it must stay valid.
  if (void* library = dlopen(kSoname, RTLD_NOLOAD | RTLD_LAZY); library != nullptr) {
    if (void* found = dlsym(library, name); found != nullptr)
      return found;
  }
  return definitionAnywhere(name);
}

int isLibtorch(dl_phdr_info* object, std::size_t, void* data) noexcept {
  if (object->dlpi_name != nullptr && std::strstr(object->dlpi_name, "/libtorch_cpu.so") != nullptr)
    *static_cast<bool*>(data) = true;
  return 0;
}

// In a distributed run whose PyTorch contains a Gloo that it does not export, no wrapper is ever
// called.
__attribute__((destructor)) void explainAbsence() noexcept {
  const char* worldSize = std::getenv("WORLD_SIZE");
  if (gCalled.load(std::memory_order_relaxed) || !core::enabled(wire::Probe::Gloo) ||
      worldSize == nullptr || std::atoi(worldSize) < 2)
    return;
  bool libtorch = false;
  dl_iterate_phdr(isLibtorch, &libtorch);
  if (libtorch && lookUp("_ZN4gloo9allreduceERKNS_16AllreduceOptionsE") == nullptr)
    sayOfGloo("not available: this libtorch keeps its Gloo to itself, ",
              "so its collectives show as operators and as traffic");
}

}  // namespace

void* realSymbol(const char* name) noexcept {
  gCalled.store(true, std::memory_order_relaxed);
  const int error = errno;
  void* found = lookUp(name);
  errno = error;
  return found;
}

}  // namespace sonde::preload::gloo
