#include "collector/preload/memory/interposer/c_allocator.h"

#include "collector/core/platform/hooks.h"

#include <errno.h>

#include <atomic>

namespace sonde::preload::memory {

alignas(64) constinit char gFirstMemory[kFirstBytes] = {};

namespace {

constinit std::atomic<std::size_t> gFirstUsed{0};
constinit __thread bool tLooksUp __attribute__((tls_model("initial-exec"))) = false;

// Returns zeroed memory; nullptr, with errno, if there is no more.
void* firstMemory(std::size_t bytes) noexcept {
  constexpr std::size_t kAlignment = 64;
  if (bytes <= kFirstBytes - kAlignment) {
    const std::size_t rounded = (bytes + kAlignment) & ~(kAlignment - 1);
    const std::size_t at = gFirstUsed.fetch_add(rounded, std::memory_order_relaxed);
    if (at + rounded <= kFirstBytes)
      return gFirstMemory + at;
  }
  errno = ENOMEM;
  return nullptr;
}

template <typename Function>
void find(Function& function, const char* name) noexcept {
  if (void* const found = core::nextSymbol(name, nullptr); found != nullptr)
    function = reinterpret_cast<Function>(found);
}

// False: this call comes from the lookup itself, which allocates. Two threads find the same
// functions.
bool findBehind() noexcept {
  if (tLooksUp)
    return false;
  tLooksUp = true;
  const int error = errno;
  find(gBehind.malloc, "malloc");
  find(gBehind.calloc, "calloc");
  find(gBehind.realloc, "realloc");
  find(gBehind.free, "free");
  find(gBehind.posix_memalign, "posix_memalign");
  find(gBehind.aligned_alloc, "aligned_alloc");
  find(gBehind.memalign, "memalign");
  find(gBehind.valloc, "valloc");
  find(gBehind.pvalloc, "pvalloc");
  errno = error;
  tLooksUp = false;
  return true;
}

// Stands in for `function` of gBehind until it is found, when it is still `first`, and if it does
// not exist.
template <auto function, auto first, typename... Arguments>
void* orFirst(std::size_t bytes, Arguments... arguments) noexcept {
  return findBehind() && gBehind.*function != first ? (gBehind.*function)(arguments...)
                                                    : firstMemory(bytes);
}

void* firstMalloc(std::size_t bytes) {
  return orFirst<&CAllocator::malloc, firstMalloc>(bytes, bytes);
}
void* firstCalloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(count, size, &bytes);
  return orFirst<&CAllocator::calloc, firstCalloc>(overflows ? SIZE_MAX : bytes, count, size);
}
void* firstRealloc(void* block, std::size_t bytes) {
  return orFirst<&CAllocator::realloc, firstRealloc>(
      block == nullptr ? bytes : SIZE_MAX, block, bytes);
}
void firstFree(void* block) {
  if (block != nullptr && findBehind() && gBehind.free != firstFree)
    gBehind.free(block);
}
int firstPosixMemalign(void** block, std::size_t alignment, std::size_t bytes) {
  return findBehind() && gBehind.posix_memalign != firstPosixMemalign
             ? gBehind.posix_memalign(block, alignment, bytes)
             : ENOMEM;
}
void* firstAlignedAlloc(std::size_t alignment, std::size_t bytes) {
  return orFirst<&CAllocator::aligned_alloc, firstAlignedAlloc>(SIZE_MAX, alignment, bytes);
}
void* firstMemalign(std::size_t alignment, std::size_t bytes) {
  return orFirst<&CAllocator::memalign, firstMemalign>(
      alignment <= 64 ? bytes : SIZE_MAX, alignment, bytes);
}
void* firstValloc(std::size_t bytes) {
  return orFirst<&CAllocator::valloc, firstValloc>(SIZE_MAX, bytes);
}
void* firstPvalloc(std::size_t bytes) {
  return orFirst<&CAllocator::pvalloc, firstPvalloc>(SIZE_MAX, bytes);
}

}  // namespace

constinit CAllocator gBehind = {firstMalloc,
                                firstCalloc,
                                firstRealloc,
                                firstFree,
                                firstPosixMemalign,
                                firstAlignedAlloc,
                                firstMemalign,
                                firstValloc,
                                firstPvalloc};

}  // namespace sonde::preload::memory
