// The real allocator behind this library's functions: libc's, or whichever comes next. Also
// provides memory while that is being looked up, because the lookup allocates.
//
// Any thread, from the first allocation on, which the loader makes before constructors have run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::preload::memory {

struct CAllocator {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
};

// Starts with functions that do the lookup, so callers need no check.
extern CAllocator gBehind;

inline constexpr std::size_t kFirstBytes = std::size_t{16} << 10;
extern char gFirstMemory[kFirstBytes];

// gFirstMemory is handed out while the allocator is looked up, and never freed. Returns the bytes
// available from this block on; the block is at most that long.
inline std::size_t firstMemoryFrom(const void* block) noexcept {
  return kFirstBytes - static_cast<std::size_t>(static_cast<const char*>(block) - gFirstMemory);
}
inline bool isFirstMemory(const void* block) noexcept {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(gFirstMemory);
  return __builtin_expect(offset < kFirstBytes, 0);
}

}  // namespace sonde::preload::memory
