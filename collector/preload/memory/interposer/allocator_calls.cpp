// malloc and its family. Calls below the size threshold are only forwarded. The real allocator is
// called outside of all recording work.
#include "collector/core/platform/hooks.h"
#include "collector/preload/memory/interposer/c_allocator.h"
#include "collector/preload/memory/interposer/torch_allocator.h"
#include "collector/preload/memory/interposer/tracking.h"

#include <errno.h>
#include <string.h>

namespace sonde::preload::memory {
namespace {

inline bool isSmall(std::size_t bytes) noexcept {
  return __builtin_expect(bytes < gThreshold, 1);
}

// Returns a block from a function that takes these arguments. Inlined, so that the wrapper's frame
// is the innermost one in the allocation's stack.
template <typename... Arguments>
[[gnu::always_inline]] inline void* given(std::size_t bytes,
                                          void* (*function)(Arguments...),
                                          Arguments... arguments) {
  const std::uint64_t begin = trackingTicks();
  void* const block = function(arguments...);
  noteGiven(block, bytes, begin, wire::Allocator::Malloc);
  return block;
}

[[gnu::always_inline]] inline void* resized(void* block, std::size_t bytes) {
  const std::uint64_t begin = isSmall(bytes) ? 0 : trackingTicks();
  const Taken taken = takeBlock(block);
  void* const fresh = gBehind.realloc(block, bytes);
  if (fresh == nullptr && bytes != 0) {
    putBack(taken);  // the program still has the block, unchanged
    return fresh;
  }
  noteReleased(taken);
  noteGiven(fresh, bytes, begin, wire::Allocator::Malloc);
  return fresh;
}

// The loader's first block is used after the lookup, and grows.
[[gnu::cold, gnu::noinline]] void* movedFromFirst(const void* block, std::size_t bytes) noexcept {
  const std::size_t most = firstMemoryFrom(block);
  void* const fresh = gBehind.malloc(bytes);
  if (fresh != nullptr)
    memcpy(fresh, block, bytes < most ? bytes : most);
  return fresh;
}

}  // namespace
}  // namespace sonde::preload::memory

using namespace sonde::preload::memory;

SONDE_EXPORT void* malloc(std::size_t bytes) {
  return isSmall(bytes) ? gBehind.malloc(bytes) : given(bytes, gBehind.malloc, bytes);
}

SONDE_EXPORT void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(count, size, &bytes);
  return overflows || isSmall(bytes) ? gBehind.calloc(count, size)
                                     : given(bytes, gBehind.calloc, count, size);
}

SONDE_EXPORT void* realloc(void* block, std::size_t bytes) {
  if (isFirstMemory(block))
    return movedFromFirst(block, bytes);
  return isSmall(bytes) && !mayBeLive(idOf(block)) ? gBehind.realloc(block, bytes)
                                                   : resized(block, bytes);
}

// libc's reallocarray() calls realloc(), which is this library's.
SONDE_EXPORT void* reallocarray(void* block, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, bytes);
}

SONDE_EXPORT void free(void* block) {
  if (isFirstMemory(block))
    return;
  noteRelease(block);
  gBehind.free(block);
}

SONDE_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (isSmall(bytes) || isTorchsOwn(bytes))
    return gBehind.posix_memalign(block, alignment, bytes);
  const std::uint64_t begin = trackingTicks();
  const int result = gBehind.posix_memalign(block, alignment, bytes);
  if (result == 0)
    noteGiven(*block, bytes, begin, sonde::wire::Allocator::Malloc);
  return result;
}

SONDE_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return isSmall(bytes) ? gBehind.aligned_alloc(alignment, bytes)
                        : given(bytes, gBehind.aligned_alloc, alignment, bytes);
}

SONDE_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
  return isSmall(bytes) ? gBehind.memalign(alignment, bytes)
                        : given(bytes, gBehind.memalign, alignment, bytes);
}

SONDE_EXPORT void* valloc(std::size_t bytes) {
  return isSmall(bytes) ? gBehind.valloc(bytes) : given(bytes, gBehind.valloc, bytes);
}

SONDE_EXPORT void* pvalloc(std::size_t bytes) {
  return isSmall(bytes) ? gBehind.pvalloc(bytes) : given(bytes, gBehind.pvalloc, bytes);
}
