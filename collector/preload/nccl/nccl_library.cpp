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
  if (gCount() != nullptr && gCount()(communicator, &number) == kSuccess)
    *size = number;
  if (gRank() != nullptr && gRank()(communicator, &number) == kSuccess)
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

void* lookUp(const char* name) noexcept {
  if (void* next = dlsym(RTLD_NEXT, name); next != nullptr)
    return next;
  if (void* library = dlopen("libnccl.so.2", RTLD_NOLOAD | RTLD_LAZY); library != nullptr) {
    if (void* found = dlsym(library, name); found != nullptr)
      return found;
  }
  return definitionAnywhere(name);  // a PyTorch that holds NCCL itself
}

}  // namespace

const Hooks* hooks() noexcept {
  return gHooks;
}

void* realNccl(const char* name) noexcept {
  const int error = errno;
  void* const found = lookUp(name);
  dlerror();
  errno = error;
  return found;
}

}  // namespace sonde::preload::nccl
