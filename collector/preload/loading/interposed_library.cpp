#include "collector/preload/loading/interposed_library.h"

#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/loading/loaded_objects.h"

#include <dlfcn.h>
#include <errno.h>

namespace sonde::preload {
namespace {

constexpr char kHere = 0;  // an address in this library

void* baseOf(const void* address) noexcept {
  Dl_info object{};
  return dladdr(address, &object) == 0 ? nullptr : object.dli_fbase;
}

// The handle of the object that contains `address`; nullptr: none does.
void* handleOf(const void* address) noexcept {
  Dl_info object{};
  return address == nullptr || dladdr(address, &object) == 0
             ? nullptr
             : dlopen(object.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
}

// Ignores Sonde's own: the main program's handle finds all global symbols.
void* definitionIn(void* scope, const char* name) noexcept {
  void* const found = scope == nullptr ? nullptr : dlsym(scope, name);
  return found == nullptr || baseOf(found) == baseOf(&kHere) ? nullptr : found;
}

}  // namespace

// Searches as the loader binds the caller: first global symbols, then those that the caller has or
// needs. A program that uses dlsym may have loaded the library without making it global.
void* InterposedLibrary::findScope(const char* name, const void* caller) const noexcept {
  if (definitionIn(RTLD_NEXT, name) != nullptr)
    return RTLD_NEXT;
  if (void* const own = handleOf(caller); definitionIn(own, name) != nullptr)
    return own;
  for (const char* const* soname = sonames_; *soname != nullptr; ++soname) {
    void* const handle = dlopen(*soname, RTLD_NOLOAD | RTLD_LAZY);
    if (definitionIn(handle, name) != nullptr)
      return handle;
  }
  // In another library, which contains the function itself.
  return handleOf(definitionAnywhere(name));
}

void* InterposedLibrary::find(const char* name, const void* caller) noexcept {
  const int error = errno;
  void* scope = scope_.load(std::memory_order_acquire);
  if (scope == nullptr) {
    void* const mine = findScope(name, caller);
    if (mine == nullptr || scope_.compare_exchange_strong(scope, mine))
      scope = mine;
  }
  void* const found = definitionIn(scope, name);
  dlerror();
  errno = error;
  return found;
}

}  // namespace sonde::preload
