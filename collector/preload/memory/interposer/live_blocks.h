// The recorded blocks of memory that are in use, and their allocation ticks. At a free they show
// whether there is anything to record.
//
// One table of fixed size per process, without locks; any thread, also in signal handlers. It is
// empty in a forked child, because the blocks of its parent are not recorded in the child's files.
//
// An address belongs to one thread at a time: the allocator gives it to a thread, until that thread
// frees it. So no other thread looks up an address while it is inserted or removed, except in
// programs that free a block twice; then only one of the frees finds it.
#pragma once

#include <atomic>
#include <cstdint>

namespace sonde::preload::memory {

inline constexpr std::uint32_t kPageBits = 12;
inline constexpr std::uint32_t kFilterSize = 1 << 15;
inline constexpr std::uint32_t kBuckets = 1 << 15;
inline constexpr std::uint32_t kWays = 8;

// One cache line of addresses; 0: free, 1: being filled in.
struct alignas(64) Bucket {
  std::atomic<std::uint64_t> address[kWays];
};

// The kernel zeroes it in every child.
struct alignas(4096) LiveBlocks {
  // Number of blocks that begin on pages with this hash.
  std::atomic<std::uint32_t> onPage[kFilterSize];
  Bucket buckets[kBuckets];
  std::atomic<std::uint64_t> since[kBuckets][kWays];  // ticks
};
extern LiveBlocks gLiveBlocks;

// False: it is not recorded. One load of a place that the page's other blocks share. That is the
// whole cost of a free on a page without recorded blocks.
inline bool mayBeLive(std::uint64_t address) noexcept {
  const std::uint64_t page = address >> kPageBits & (kFilterSize - 1);
  return __builtin_expect(gLiveBlocks.onPage[page].load(std::memory_order_relaxed) != 0, 0);
}

// `ticks` > 0. False: no room. Requires: the address is not in the table.
bool putLive(std::uint64_t address, std::uint64_t ticks) noexcept;
// Both return the block's ticks; 0: not in the table. takeLive() also removes it.
std::uint64_t findLive(std::uint64_t address) noexcept;
std::uint64_t takeLive(std::uint64_t address) noexcept;

// Makes the kernel empty the table in children. False: it cannot.
bool emptyLiveBlocksInChildren() noexcept;

}  // namespace sonde::preload::memory
