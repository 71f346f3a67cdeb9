#include "collector/preload/nccl/interposer/nccl_library.h"

#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/nccl/nccl_types.h"

#include <dlfcn.h>

namespace sonde::preload::nccl {
namespace {

constexpr const char* kNames[] = {"libnccl.so.2", nullptr};

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

// Must not run later: dlsym takes the loader's lock.
__attribute__((constructor(101))) void findHooks() noexcept {
  const auto find = reinterpret_cast<FindHooks>(dlsym(RTLD_DEFAULT, "sonde_nccl_hooks"));
  if (find != nullptr)
    gHooks = find(kHooksVersion, &kLibrary);
  else
    dlerror();  // otherwise the program's next dlerror() would report this lookup
}

}  // namespace

constinit InterposedLibrary gNccl{kNames};

const Hooks* hooks() noexcept {
  return gHooks;
}

}  // namespace sonde::preload::nccl
