// Shared by the wrappers of this library: records blocks that were allocated or are about to be
// freed. Any thread; keeps errno.
#pragma once

#include "collector/preload/memory/interposer/live_blocks.h"
#include "collector/wire/memory_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::memory {

// malloc blocks from this size on are recorded; SIZE_MAX: none, until recording begins.
extern std::size_t gThreshold;

inline std::uint64_t idOf(const void* block) noexcept {
  return reinterpret_cast<std::uint64_t>(block);
}

// The current ticks; 0: nothing is recorded.
std::uint64_t trackingTicks() noexcept;

// The calling thread has got a block from a call that began at `begin` (from trackingTicks()).
// Records nothing if `begin` is 0, if there is no block, or if a nested call has already recorded
// it.
void noteGiven(const void* block,
               std::size_t bytes,
               std::uint64_t begin,
               wire::Allocator allocator) noexcept;

// The removed entry of a recorded block, in case the program's own call fails and it must be put
// back.
struct Taken {
  std::uint64_t address;
  std::uint64_t since;  // 0: not recorded
  std::uint64_t ticks;  // when it was removed
};
Taken takeBlock(const void* block) noexcept;
void putBack(const Taken& taken) noexcept;
void noteReleased(const Taken& taken) noexcept;

// The calling thread is about to free this block.
[[gnu::cold]] void noteLiveReleased(const void* block) noexcept;
inline void noteRelease(const void* block) noexcept {
  if (mayBeLive(idOf(block)))
    noteLiveReleased(block);
}

}  // namespace sonde::preload::memory
