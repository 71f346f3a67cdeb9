// How a spool file grows: in chunks of slots. Each chunk is charged to the run's limit, allocated
// on disk and faulted in as a whole before its first slot is used. spool.cpp tracks which chunks of
// a file exist.
//
// The first chunk is small: most images of a job record very little, and a process that lives for a
// millisecond waits for it. Then the file doubles until it grows by 1 MiB at a time.
#pragma once

#include "collector/wire/spool_format.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

inline constexpr std::uint32_t kFirstChunkSlots = 4;  // header, definitions, two to write in turn
inline constexpr std::uint32_t kLargestChunkSlots = 16;
inline constexpr std::uint32_t kMaxChunks = wire::kMaxSlots / kLargestChunkSlots + 2;
inline constexpr std::size_t kFirstChunkBytes = std::size_t{kFirstChunkSlots} * wire::kSlotBytes;

// This share of a run's limit is reserved for images that already have a file. New images are
// refused before a busy one finds no room to grow.
inline constexpr std::uint64_t kGrowthShare = 4;  // one in …

struct Chunk {
  std::uint32_t index;

  constexpr std::uint32_t firstSlot() const noexcept { return firstSlotOf(index); }
  constexpr std::uint32_t endSlot() const noexcept { return firstSlotOf(index + 1); }
  constexpr std::uint32_t slots() const noexcept { return endSlot() - firstSlot(); }
  constexpr std::size_t offset() const noexcept {
    return std::size_t{firstSlot()} * wire::kSlotBytes;
  }
  constexpr std::size_t bytes() const noexcept { return std::size_t{slots()} * wire::kSlotBytes; }

 private:
  static constexpr std::uint32_t firstSlotOf(std::uint32_t index) noexcept {
    if (index == 0)
      return 0;
    return index < 3 ? kFirstChunkSlots << (index - 1) : kLargestChunkSlots * (index - 2);
  }
};
static_assert(Chunk{2}.endSlot() == kLargestChunkSlots);
static_assert(Chunk{kMaxChunks - 1}.endSlot() == wire::kMaxSlots);

// Charges the chunk's bytes to the run's limit and allocates them in the file. Returns false and
// charges nothing if the limit, the file system or the host's RLIMIT_FSIZE forbids it.
bool allocateChunk(wire::SessionPage* session, long fd, Chunk chunk) noexcept;

// Gives back what allocateChunk took.
void releaseChunk(wire::SessionPage* session, long fd, Chunk chunk) noexcept;

// Makes the pages of an allocated chunk accessible and faults them in. Faulting them in one by one
// would cost each of the next sixteen records of a page about a microsecond. `base`: where the file
// is mapped. False if a store would raise SIGBUS. A file system may find that out only here (a
// quota, its metadata); an older kernel cannot report it.
bool populateChunk(const char* base, Chunk chunk) noexcept;

}  // namespace sonde::core
