#include "analysis/engine/memory/memory_levels.h"

#include <algorithm>
#include <iterator>

namespace sonde::engine::metrics {

std::vector<MemoryLevel> levelsOf(const std::vector<MemoryBlock>& blocks, std::int64_t baseBytes) {
  std::vector<MemoryLevel> changes;  // by change of the level
  changes.reserve(2 * blocks.size());
  for (const MemoryBlock& block : blocks) {
    changes.push_back({block.allocNs, block.bytes});
    if (block.freeNs)
      changes.push_back({std::max(*block.freeNs, block.allocNs), -block.bytes});
  }
  std::sort(changes.begin(), changes.end(), [](const MemoryLevel& a, const MemoryLevel& b) {
    return a.ns < b.ns;
  });
  std::vector<MemoryLevel> levels;
  std::int64_t bytes = baseBytes;
  for (const MemoryLevel& change : changes) {
    bytes += change.bytes;
    if (!levels.empty() && levels.back().ns == change.ns)
      levels.back().bytes = bytes;
    else
      levels.push_back({change.ns, bytes});
  }
  return levels;
}

std::vector<MemoryLevel> levelsIn(const std::vector<MemoryLevel>& levels,
                                  std::int64_t baseBytes,
                                  Interval range) {
  const auto firstFrom = [&](std::int64_t ns) {
    return std::partition_point(
        levels.begin(), levels.end(), [ns](const MemoryLevel& each) { return each.ns < ns; });
  };
  const auto first = firstFrom(range.begin);
  const auto last = firstFrom(range.end);
  std::vector<MemoryLevel> inside;
  if (first == last || first->ns > range.begin)
    inside.push_back({range.begin, first == levels.begin() ? baseBytes : std::prev(first)->bytes});
  inside.insert(inside.end(), first, last);
  inside.push_back({range.end, inside.back().bytes});
  return inside;
}

MemoryLevel peakOf(const std::vector<MemoryLevel>& levels) {
  return *std::max_element(
      levels.begin(), levels.end(), [](const MemoryLevel& a, const MemoryLevel& b) {
        return a.bytes < b.bytes;
      });
}

std::vector<MemoryLevel> thinned(const std::vector<MemoryLevel>& levels, std::size_t stretches) {
  if (levels.size() <= 2 * stretches)
    return levels;
  const auto from = static_cast<double>(levels.front().ns);
  const double width =
      (static_cast<double>(levels.back().ns) - from + 1) / static_cast<double>(stretches);
  const auto stretchOf = [&](const MemoryLevel& level) {
    return static_cast<std::size_t>((static_cast<double>(level.ns) - from) / width);
  };
  std::vector<MemoryLevel> kept;
  for (auto at = levels.begin(); at != levels.end();) {
    const std::size_t stretch = stretchOf(*at);
    auto lowest = at;
    auto highest = at;
    for (; at != levels.end() && stretchOf(*at) == stretch; ++at) {
      lowest = at->bytes < lowest->bytes ? at : lowest;
      highest = at->bytes > highest->bytes ? at : highest;
    }
    kept.push_back(*std::min(lowest, highest));
    if (lowest != highest)
      kept.push_back(*std::max(lowest, highest));
  }
  if (!(kept.back() == levels.back()))
    kept.push_back(levels.back());
  return kept;
}

HighestLevel::HighestLevel(const std::vector<MemoryLevel>& levels, std::int64_t baseBytes)
    : levels_(levels), baseBytes_(baseBytes), tree_(2 * levels.size()) {
  for (std::size_t at = 0; at < levels.size(); ++at)
    tree_[levels.size() + at] = levels[at].bytes;
  for (std::size_t at = levels.size(); at-- > 1;)
    tree_[at] = std::max(tree_[2 * at], tree_[2 * at + 1]);
}

std::size_t HighestLevel::firstAfter(std::int64_t ns) const {
  const auto found = std::upper_bound(
      levels_.begin(), levels_.end(), ns, [](std::int64_t at, const MemoryLevel& level) {
        return at < level.ns;
      });
  return static_cast<std::size_t>(found - levels_.begin());
}

std::int64_t HighestLevel::in(Interval stretch) const {
  std::size_t first = firstAfter(stretch.begin);
  std::int64_t highest = first == 0 ? baseBytes_ : levels_[first - 1].bytes;
  // Levels that begin inside; none if the stretch ends before it begins.
  std::size_t end = std::max(first, firstAfter(std::max(stretch.end, stretch.begin + 1) - 1));
  for (first += levels_.size(), end += levels_.size(); first < end; first /= 2, end /= 2) {
    if (first % 2 == 1)
      highest = std::max(highest, tree_[first++]);
    if (end % 2 == 1)
      highest = std::max(highest, tree_[--end]);
  }
  return highest;
}

}  // namespace sonde::engine::metrics
