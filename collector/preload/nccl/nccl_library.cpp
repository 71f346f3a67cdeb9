#include "collector/preload/nccl/nccl_library.h"

#include "collector/core/symbol_versions.h"
#include "collector/preload/nccl/nccl_types.h"
#include "collector/preload/probes/loaded_objects.h"

#include <dlfcn.h>
#include <errno.h>

namespace sonde::preload::nccl {
namespace {

const Hooks* gHooks = nullptr;

using Ask = Result_t (*)(const void*, int*);
constinit RealNccl<Ask> gCount{"ncclCommCount"};
constinit RealNccl<Ask> gRank{"ncclCommUserRank"};

void describe(const void* communicator, std::int32_t* size, std::int32_t* rank) noexcept {
  int number = 0;
  if (gCount.find(nullptr) && gCount()(communicator, &number) == kSuccess)
    *size = number;
  if (gRank.find(nullptr) && gRank()(communicator, &number) == kSuccess)
    *rank = number;
}

constexpr Library kLibrary = {describe};

// Later would be too late: dlsym takes the loader's lock.
__attribute__((constructor(101))) void findHooks() noexcept {
  const auto find = reinterpret_cast<FindHooks>(dlsym(RTLD_DEFAULT, "sonde_nccl_hooks"));
  if (find != nullptr)
    gHooks = find(kHooksVersion, &kLibrary);
  else
    dlerror();  // or it would say so to the program, which did not ask
}

// Where all functions are looked for: a handle of dlsym's, once the first has been found.
std::atomic<void*> gScope{nullptr};

void* baseOf(const void* address) noexcept {
  Dl_info object{};
  return dladdr(address, &object) == 0 ? nullptr : object.dli_fbase;
}

// Of the object that `address` is in; nullptr: it is in none.
void* handleOf(const void* address) noexcept {
  Dl_info object{};
  return address == nullptr || dladdr(address, &object) == 0
             ? nullptr
             : dlopen(object.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
}

// Not Sonde's own: the main program's handle stands for all that is global.
void* definitionIn(void* scope, const char* name) noexcept {
  void* const found = dlsym(scope, name);
  return found == nullptr || baseOf(found) == baseOf(&gScope) ? nullptr : found;
}

// As the loader binds the caller: what is global first, then what the caller itself has or needs. A
// program that asks with dlsym may have loaded NCCL for itself alone.
void* findScope(const char* name, const void* caller) noexcept {
  if (definitionIn(RTLD_NEXT, name) != nullptr)
    return RTLD_NEXT;
  for (void* const scope : {handleOf(caller), dlopen("libnccl.so.2", RTLD_NOLOAD | RTLD_LAZY)}) {
    if (scope != nullptr && definitionIn(scope, name) != nullptr)
      return scope;
  }
  return handleOf(definitionAnywhere(name));  // a PyTorch that holds NCCL itself
}

void* lookUp(const char* name, const void* caller) noexcept {
  void* scope = gScope.load(std::memory_order_acquire);
  if (scope == nullptr) {
    void* const mine = findScope(name, caller);
    if (mine == nullptr || gScope.compare_exchange_strong(scope, mine))
      scope = mine;
  }
  return scope == nullptr ? nullptr : definitionIn(scope, name);
}

}  // namespace

const Hooks* hooks() noexcept {
  return gHooks;
}

void* realNccl(const char* name, const void* caller) noexcept {
  const int error = errno;
  void* const found = lookUp(name, caller);
  dlerror();
  errno = error;
  return found;
}

}  // namespace sonde::preload::nccl
