// Records of memory that threads allocate and give back. The two of one block may be in slots of
// different threads, and be read in either order.
#pragma once

#include "collector/wire/records.h"

#include <cstdint>

namespace sonde::wire {

// By whom. `allocation.allocator` in the store.
enum class Allocator : std::uint8_t {
  Malloc = 1,
  Torch = 2,  // PyTorch's for the processor
};

// The writing thread has been given memory. `detail`: Allocator.
struct Allocation {
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t address;
  std::uint64_t bytes;  // that were asked for
};

// The writing thread gives memory back.
struct Release {
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t address;
  std::uint64_t sinceTicks;  // Allocation::ticks: with the address it names the allocation
};

static_assert(sizeof(Allocation) == 32 && sizeof(Release) == 32);

}  // namespace sonde::wire
