#include "collector/preload/memory/interposer/live_blocks.h"

#include "collector/core/platform/syscalls.h"

#include <sys/mman.h>

namespace sonde::preload::memory {

constinit LiveBlocks gLiveBlocks = {};

namespace {

constexpr std::uint64_t kFilling = 1;

struct Place {
  std::uint32_t bucket;
  std::uint32_t way;  // kWays: none
};

// An address has two possible buckets, so the table is nearly full before both are.
struct Choices {
  std::uint32_t bucket[2];
};

Choices choicesOf(std::uint64_t address) noexcept {
  constexpr std::uint32_t kBits = 15;
  static_assert(kBuckets == 1 << kBits);
  const std::uint64_t mixed = (address >> 4) * 0x9e37'79b9'7f4a'7c15;
  return {static_cast<std::uint32_t>(mixed >> (64 - kBits)),
          static_cast<std::uint32_t>(mixed >> (64 - 2 * kBits)) & (kBuckets - 1)};
}

std::atomic<std::uint32_t>& onPageOf(std::uint64_t address) noexcept {
  return gLiveBlocks.onPage[address >> kPageBits & (kFilterSize - 1)];
}

// Marks a free place as kFilling.
Place claim(std::uint32_t bucket) noexcept {
  for (std::uint32_t way = 0; way < kWays; ++way) {
    std::uint64_t free = 0;
    if (gLiveBlocks.buckets[bucket].address[way].load(std::memory_order_relaxed) == 0 &&
        gLiveBlocks.buckets[bucket].address[way].compare_exchange_strong(
            free, kFilling, std::memory_order_acquire, std::memory_order_relaxed))
      return {bucket, way};
  }
  return {bucket, kWays};
}

// No block is at nullptr, which marks free places.
Place placeOf(std::uint64_t address) noexcept {
  if (address <= kFilling)
    return {0, kWays};
  for (const std::uint32_t bucket : choicesOf(address).bucket) {
    for (std::uint32_t way = 0; way < kWays; ++way) {
      if (gLiveBlocks.buckets[bucket].address[way].load(std::memory_order_acquire) == address)
        return {bucket, way};
    }
  }
  return {0, kWays};
}

std::uint64_t sinceAt(Place place) noexcept {
  return gLiveBlocks.since[place.bucket][place.way].load(std::memory_order_relaxed);
}

}  // namespace

bool putLive(std::uint64_t address, std::uint64_t ticks) noexcept {
  const Choices choices = choicesOf(address);
  Place place = claim(choices.bucket[0]);
  if (place.way == kWays)
    place = claim(choices.bucket[1]);
  if (place.way == kWays)
    return false;
  gLiveBlocks.since[place.bucket][place.way].store(ticks, std::memory_order_relaxed);
  onPageOf(address).fetch_add(1, std::memory_order_relaxed);
  gLiveBlocks.buckets[place.bucket].address[place.way].store(address, std::memory_order_release);
  return true;
}

std::uint64_t findLive(std::uint64_t address) noexcept {
  const Place place = placeOf(address);
  return place.way == kWays ? 0 : sinceAt(place);
}

std::uint64_t takeLive(std::uint64_t address) noexcept {
  const Place place = placeOf(address);
  if (place.way == kWays)
    return 0;
  const std::uint64_t ticks = sinceAt(place);
  std::uint64_t mine = address;
  if (!gLiveBlocks.buckets[place.bucket].address[place.way].compare_exchange_strong(
          mine, 0, std::memory_order_acq_rel, std::memory_order_relaxed))
    return 0;  // freed twice
  onPageOf(address).fetch_sub(1, std::memory_order_relaxed);
  return ticks;
}

bool emptyLiveBlocksInChildren() noexcept {
  return core::rawSyscall(
             SYS_madvise, core::asLong(&gLiveBlocks), sizeof gLiveBlocks, MADV_WIPEONFORK) == 0;
}

}  // namespace sonde::preload::memory
