// The memory held over time, from blocks with their times: the level, its peak, and the highest
// level in any stretch of time. Plain values and pure functions.
//
// A block is held from the instant of its allocation to the instant before it is freed. So if one
// block is freed when another is allocated, they never count together.
#pragma once

#include "analysis/engine/intervals/intervals.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::metrics {

struct MemoryBlock {
  std::int64_t allocNs = 0;
  std::optional<std::int64_t> freeNs;  // unset: never
  std::int64_t bytes = 0;
  std::int64_t scopeId = 0;  // the slice that it was allocated in; 0: none
  // The threads that allocated and freed it; 0: unknown.
  std::int64_t allocThreadId = 0;
  std::int64_t freeThreadId = 0;
  std::int64_t stackId = 0;  // where in the code it was allocated; 0: unknown

  bool isHeldAt(std::int64_t ns) const noexcept {
    return allocNs <= ns && (!freeNs || *freeNs > ns);
  }
};

struct MemoryLevel {
  std::int64_t ns = 0;
  std::int64_t bytes = 0;  // from this instant on
  friend bool operator==(const MemoryLevel&, const MemoryLevel&) = default;
};

// The level from each instant at which it changes; `baseBytes` before the first. O(n log n).
std::vector<MemoryLevel> levelsOf(const std::vector<MemoryBlock>& blocks, std::int64_t baseBytes);

// The levels in a range, with the one at its begin, and the last one again at its end.
// `baseBytes`: before the first.
std::vector<MemoryLevel> levelsIn(const std::vector<MemoryLevel>& levels,
                                  std::int64_t baseBytes,
                                  Interval range);

// The first of the highest levels. Requires: not empty.
MemoryLevel peakOf(const std::vector<MemoryLevel>& levels);

// Returns at most 2 · `stretches` + 1 of the levels: the highest and the lowest of each of
// `stretches` equal stretches of time, and the last. The peak is always among them.
std::vector<MemoryLevel> thinned(const std::vector<MemoryLevel>& levels, std::size_t stretches);

// The highest level in any stretch of time, in O(log n). Requires: `levels` outlive the object.
class HighestLevel {
 public:
  HighestLevel(const std::vector<MemoryLevel>& levels, std::int64_t baseBytes);

  // For an empty stretch: the level at its begin.
  std::int64_t in(Interval stretch) const;

 private:
  std::size_t firstAfter(std::int64_t ns) const;

  const std::vector<MemoryLevel>& levels_;
  std::int64_t baseBytes_;
  std::vector<std::int64_t> tree_;  // of pairs: node i has the higher of nodes 2i and 2i + 1
};

}  // namespace sonde::engine::metrics
