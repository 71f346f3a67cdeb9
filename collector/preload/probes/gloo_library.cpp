#include "collector/preload/probes/gloo_library.h"

#include "collector/core/emit.h"
#include "collector/core/symbol_versions.h"
#include "collector/preload/probes/gloo_layout.h"

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

// The path of the n-th loaded object. Objects are opened outside dl_iterate_phdr, which holds a
// lock that another thread's dlopen waits for while it holds the one that dlopen needs.
struct Loaded {
  int countdown;
  char path[4096];
  bool found;
};

int nthObject(dl_phdr_info* object, std::size_t, void* data) noexcept {
  auto& wanted = *static_cast<Loaded*>(data);
  if (wanted.countdown-- > 0)
    return 0;
  wanted.found = true;
  wanted.path[0] = '\0';
  const char* path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  const bool own = objectHolds(*object, reinterpret_cast<std::uintptr_t>(&nthObject));
  if (!own && std::strlen(path) < sizeof wanted.path)
    std::strcpy(wanted.path, path);
  return 1;
}

// The definition in any object but this library, however it was loaded: a PyTorch that holds and
// exports Gloo itself.
void* definitionAnywhere(const char* name) noexcept {
  Loaded object{};
  for (int at = 0;; ++at) {
    object.countdown = at;
    object.found = false;
    dl_iterate_phdr(nthObject, &object);
    if (!object.found)
      return nullptr;
    void* handle = object.path[0] == '\0' ? nullptr : dlopen(object.path, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr)
      continue;
    if (void* address = dlsym(handle, name); address != nullptr)
      return address;
    dlclose(handle);
  }
}

void* lookUp(const char* name) noexcept {
  // Stays open: what was found in it must stay valid.
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

// A distributed run whose PyTorch holds a Gloo that it does not export never comes by here.
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
