// Which blocks of memory that are in use now have been recorded, and since when: what tells at a
// free whether there is anything to say.
//
// One table of fixed size for the process, without locks; any thread, also in signal handlers. A
// forked child finds it empty, since what it has from its parent is recorded in none of its files.
//
// An address belongs to one thread at a time: to the one that the allocator has given it to, until
// that gives it back. So nobody else looks for an address that is being put in or taken out, but
// programs that give a block back twice, of whom one finds it.
#pragma once

#include <atomic>
#include <cstdint>

namespace sonde::preload::memory {

inline constexpr std::uint32_t kPageBits = 12;
inline constexpr std::uint32_t kFilterSize = 1 << 15;
inline constexpr std::uint32_t kBuckets = 1 << 15;
inline constexpr std::uint32_t kWays = 8;

// A cache line of addresses; 0: free, 1: being filled in.
struct alignas(64) Bucket {
  std::atomic<std::uint64_t> address[kWays];
};

// Zeroed by the kernel in every child.
struct alignas(4096) LiveBlocks {
  std::atomic<std::uint32_t> onPage[kFilterSize];  // how many begin on pages with such a number
  Bucket buckets[kBuckets];
  std::atomic<std::uint64_t> since[kBuckets][kWays];  // ticks
};
extern LiveBlocks gLiveBlocks;

// False: it is not there. One load, and that of a place that the page's other blocks share: all
// that a free costs where nothing of its page is recorded.
inline bool mayBeLive(std::uint64_t address) noexcept {
  const std::uint64_t page = address >> kPageBits & (kFilterSize - 1);
  return __builtin_expect(gLiveBlocks.onPage[page].load(std::memory_order_relaxed) != 0, 0);
}

// `ticks` > 0. False: no room. Requires: it is not there.
bool putLive(std::uint64_t address, std::uint64_t ticks) noexcept;
// Its ticks; 0: it is not there.
std::uint64_t findLive(std::uint64_t address) noexcept;
std::uint64_t takeLive(std::uint64_t address) noexcept;

// Has the kernel empty the table in children. False: it cannot.
bool emptyLiveBlocksInChildren() noexcept;

}  // namespace sonde::preload::memory
