#include "collector/preload/loading/loaded_objects.h"

#include "collector/core/platform/symbol_versions.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <cstddef>
#include <cstring>

namespace sonde::preload {
namespace {

constexpr int kMostObjects = 1 << 16;  // a limit, in case other threads keep loading objects

// The path of the n-th loaded object. Objects are opened outside dl_iterate_phdr to avoid a
// deadlock. It holds a lock that another thread's dlopen waits for while holding the lock that
// dlopen needs.
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

}  // namespace

bool objectHolds(const dl_phdr_info& object, std::uintptr_t address) noexcept {
  for (int at = 0; at < object.dlpi_phnum; ++at) {
    const ElfW(Phdr)& header = object.dlpi_phdr[at];
    const std::uintptr_t start = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= start && address - start < header.p_memsz)
      return true;
  }
  return false;
}

bool isOfProgram(const void* address) noexcept {
  Dl_info its{};
  Dl_info program{};
  return dladdr(address, &its) != 0 &&
         dladdr(reinterpret_cast<const void*>(getauxval(AT_ENTRY)), &program) != 0 &&
         its.dli_fbase == program.dli_fbase;
}

void* definitionAnywhere(const char* name) noexcept {
  Loaded object{};
  for (int at = 0; at < kMostObjects; ++at) {
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
  return nullptr;
}

}  // namespace sonde::preload
