// How much memory is held over time, from blocks with their times: the level, its peak, and the
// highest level in any stretch of time. Plain values and pure functions.
//
// A block is held from the instant in which it is allocated until that in which it is freed, which
// is no longer part of it: of a block that is freed when another one is allocated, both never count
// together.
#pragma once

#include "analysis/engine/intervals/intervals.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::metrics {

struct MemoryBlock {
  std::int64_t allocNs = 0;
  std::optional<std::int64_t> freeNs;  // none: never
  std::int64_t bytes = 0;
  std::int64_t scopeId = 0;  // the slice that it was allocated in; 0: none

  bool isHeldAt(std::int64_t ns) const noexcept {
    return allocNs <= ns && (!freeNs || *freeNs > ns);
  }
};

struct MemoryLevel {
  std::int64_t ns = 0;
  std::int64_t bytes = 0;  // from then on
  friend bool operator==(const MemoryLevel&, const MemoryLevel&) = default;
};

// What is held from each instant on in which that changes; `baseBytes` before the first. O(n log
// n).
std::vector<MemoryLevel> levelsOf(const std::vector<MemoryBlock>& blocks, std::int64_t baseBytes);

// The first of the highest. Requires: not empty.
MemoryLevel peakOf(const std::vector<MemoryLevel>& levels);

// At most 2 · `stretches` + 1 of the levels: of as many equal stretches of time the highest and the
// lowest, at their instants, so that the peak is among them as it was, and the last.
std::vector<MemoryLevel> thinned(const std::vector<MemoryLevel>& levels, std::size_t stretches);

// The highest level in any stretch of time, in O(log n). Requires: `levels` outlive it.
class HighestLevel {
 public:
  HighestLevel(const std::vector<MemoryLevel>& levels, std::int64_t baseBytes);

  // An empty stretch has the level at its begin.
  std::int64_t in(Interval stretch) const;

 private:
  std::size_t firstAfter(std::int64_t ns) const;

  const std::vector<MemoryLevel>& levels_;
  std::int64_t baseBytes_;
  std::vector<std::int64_t> tree_;  // of pairs: what is at i is the higher of 2i and 2i + 1
};

}  // namespace sonde::engine::metrics
