#include "collector/preload/memory/interposer/torch_allocator.h"

#include "collector/core/platform/hooks.h"
#include "collector/preload/loading/interposed_library.h"
#include "collector/preload/memory/interposer/tracking.h"

#include <stdlib.h>

namespace sonde::preload::memory {

constinit __thread std::size_t tTorchAsks __attribute__((tls_model("initial-exec"))) = 0;

namespace {

constexpr const char* kNames[] = {"libc10.so", nullptr};
constinit InterposedLibrary gTorch{kNames};
constinit Interposed<void* (*)(std::size_t)> gAlloc{gTorch, "_ZN3c109alloc_cpuEm"};
constinit Interposed<void (*)(void*)> gFree{gTorch, "_ZN3c108free_cpuEPv"};

// Allocates as PyTorch does, for a caller whose own function was not found.
void* alignedAlloc(std::size_t bytes) noexcept {
  constexpr std::size_t kAlignment = 64;
  void* block = nullptr;
  return bytes == 0 || posix_memalign(&block, kAlignment, bytes) != 0 ? nullptr : block;
}

}  // namespace
}  // namespace sonde::preload::memory

using namespace sonde::preload::memory;

// c10::alloc_cpu(unsigned long), which throws if there is no memory.
SONDE_EXPORT void* _ZN3c109alloc_cpuEm(std::size_t bytes) {
  if (!gAlloc.find(__builtin_return_address(0)))
    return alignedAlloc(bytes);
  const std::uint64_t begin = bytes == 0 ? 0 : trackingTicks();
  tTorchAsks = bytes;
  void* const block = gAlloc()(bytes);
  tTorchAsks = 0;
  noteGiven(block, bytes, begin, sonde::wire::Allocator::Torch);
  return block;
}

// c10::free_cpu(void*). It calls free(), which records the release too, except in a program that
// has its own free().
SONDE_EXPORT void _ZN3c108free_cpuEPv(void* block) {
  noteRelease(block);
  if (gFree.find(__builtin_return_address(0)))
    gFree()(block);
  else
    free(block);
}
