// What the wrappers of this library share: what is recorded of a block that they have been given or
// are about to give back. Any thread; keeps errno.
#pragma once

#include "collector/preload/memory/interposer/live_blocks.h"
#include "collector/wire/memory_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::memory {

// The least bytes of malloc that are recorded; SIZE_MAX: nothing is, as long as nobody has begun.
extern std::size_t gThreshold;

inline std::uint64_t idOf(const void* block) noexcept {
  return reinterpret_cast<std::uint64_t>(block);
}

// Now; 0: nothing is recorded.
std::uint64_t trackingTicks() noexcept;

// The calling thread has been given a block by a call that it was in from `begin`, trackingTicks(),
// on. Nothing where that is 0, where there is no block, or where a call inside of that one was
// given the same.
void noteGiven(const void* block,
               std::size_t bytes,
               std::uint64_t begin,
               wire::Allocator allocator) noexcept;

// What is remembered of a recorded block, for as long as the program's own call may still fail.
struct Taken {
  std::uint64_t address;
  std::uint64_t since;  // 0: it was not recorded
  std::uint64_t ticks;  // when it was taken
};
Taken takeBlock(const void* block) noexcept;
void putBack(const Taken& taken) noexcept;
void noteReleased(const Taken& taken) noexcept;

// The calling thread is about to give this block back.
[[gnu::cold]] void noteLiveReleased(const void* block) noexcept;
inline void noteRelease(const void* block) noexcept {
  if (mayBeLive(idOf(block)))
    noteLiveReleased(block);
}

}  // namespace sonde::preload::memory
