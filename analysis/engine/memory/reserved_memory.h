// The memory that PyTorch's caching allocator holds on devices and how much of it tensors use.
// Plain values; reading uses the database's thread.
//
// Files of torch.profiler have both at each `[memory]` mark; the mark with the most memory in use
// counts, because then the rest was of no use. An imported snapshot has both when it was taken, and
// its largest free block, as counters of its process.
#pragma once

#include "analysis/engine/memory/memory_levels.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::engine::metrics {

// Counters of a process and device that importers store, in bytes.
inline constexpr std::string_view kReservedCounter = "allocator reserved";
inline constexpr std::string_view kInUseCounter = "allocator in use";
inline constexpr std::string_view kLargestFreeCounter = "allocator largest free block";

struct ReservedMemory {
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;
  std::string place;    // "gpu 0"
  std::int64_t ns = 0;  // when
  std::int64_t reservedBytes = 0;
  std::int64_t inUseBytes = 0;
  std::optional<std::int64_t> largestFreeBytes;

  std::int64_t freeBytes() const noexcept { return reservedBytes - inUseBytes; }
};

// By process, then place. Empty: neither was recorded.
Result<std::vector<ReservedMemory>> reservedMemory(const store::Database& trace);

// The reserved bytes over time, in the time of the process's host, by process and place ("gpu 0").
// At most 2 · `stretches` + 1 of each.
using ReservedLevels = std::map<std::pair<std::int64_t, std::string>, std::vector<MemoryLevel>>;
Result<ReservedLevels> reservedLevels(const store::Database& trace, std::size_t stretches);

}  // namespace sonde::engine::metrics
