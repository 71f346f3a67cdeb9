// Records of memory that threads allocate and free. The two records of one block may be in slots of
// different threads, and a reader may meet them in either order.
#pragma once

#include "collector/wire/records.h"

#include <cstdint>

namespace sonde::wire {

// The allocator. `allocation.allocator` in the store.
enum class Allocator : std::uint8_t {
  Malloc = 1,
  Torch = 2,  // PyTorch's CPU allocator
};

// The writing thread has allocated memory. `detail`: Allocator.
struct Allocation {
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t address;
  std::uint64_t bytes;  // requested
};

// The writing thread frees memory.
struct Release {
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t address;
  // Allocation::ticks; identifies the allocation together with the address.
  std::uint64_t sinceTicks;
};

static_assert(sizeof(Allocation) == 32 && sizeof(Release) == 32);

}  // namespace sonde::wire
