// Levels of memory, compared with a count at every instant.
#include "analysis/engine/memory/memory_levels.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <vector>

namespace sonde::engine::metrics {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kLast = 60;

std::int64_t heldAt(const std::vector<MemoryBlock>& blocks, std::int64_t base, std::int64_t ns) {
  for (const MemoryBlock& block : blocks)
    base += block.isHeldAt(ns) ? block.bytes : 0;
  return base;
}

std::vector<MemoryBlock> randomBlocks(std::mt19937& random, std::size_t count) {
  std::vector<MemoryBlock> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = static_cast<std::int64_t>(random() % kLast);
    MemoryBlock block{begin, {}, static_cast<std::int64_t>(random() % 100), 0};
    if (random() % 4 != 0)
      block.freeNs = begin + static_cast<std::int64_t>(random() % 20);
    blocks.push_back(block);
  }
  return blocks;
}

// The level at `ns`, from a list of changes.
std::int64_t levelAt(const std::vector<MemoryLevel>& levels, std::int64_t base, std::int64_t ns) {
  for (const MemoryLevel& level : levels)
    base = level.ns <= ns ? level.bytes : base;
  return base;
}

TEST(MemoryLevels, AreWhatIsHeldAtEachInstant) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::vector<MemoryBlock> blocks = randomBlocks(random, random() % 30);
    const std::vector<MemoryLevel> levels = levelsOf(blocks, 7);
    for (std::int64_t ns = -1; ns < kLast + 25; ++ns)
      ASSERT_EQ(levelAt(levels, 7, ns), heldAt(blocks, 7, ns)) << ns;
    for (std::size_t i = 1; i < levels.size(); ++i)
      ASSERT_LT(levels[i - 1].ns, levels[i].ns);
    if (levels.empty())
      continue;
    std::int64_t most = 0;
    for (std::int64_t ns = 0; ns < kLast + 25; ++ns)
      most = std::max(most, heldAt(blocks, 7, ns));
    ASSERT_GE(peakOf(levels).bytes, most);
    ASSERT_EQ(peakOf(levels).bytes, heldAt(blocks, 7, peakOf(levels).ns));
  }
}

TEST(MemoryLevels, OfABlockThatReplacesAnotherHaveNotBoth) {
  EXPECT_THAT(levelsOf({{0, 10, 5, 0}, {10, 20, 6, 0}}, 0),
              ElementsAre(MemoryLevel{0, 5}, MemoryLevel{10, 6}, MemoryLevel{20, 0}));
  EXPECT_THAT(levelsOf({}, 3), IsEmpty());
}

TEST(HighestLevel, IsThatOfEveryStretch) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const std::vector<MemoryBlock> blocks = randomBlocks(random, random() % 30);
    const std::vector<MemoryLevel> levels = levelsOf(blocks, 7);
    const HighestLevel highest(levels, 7);
    for (int i = 0; i < 50; ++i) {
      const auto begin = static_cast<std::int64_t>(random() % (kLast + 30)) - 5;
      const std::int64_t end = begin + static_cast<std::int64_t>(random() % 30);
      std::int64_t most = heldAt(blocks, 7, begin);
      for (std::int64_t ns = begin; ns < end; ++ns)
        most = std::max(most, heldAt(blocks, 7, ns));
      ASSERT_EQ(highest.in({begin, end}), most) << begin << " to " << end;
    }
  }
}

TEST(ThinnedLevels, KeepThePeakAndTheEnd) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<MemoryLevel> levels;
    std::int64_t ns = 0;
    for (int i = 0; i < 3000; ++i)
      levels.push_back({ns += 1 + static_cast<std::int64_t>(random() % 50),
                        static_cast<std::int64_t>(random())});
    const std::vector<MemoryLevel> few = thinned(levels, 40);
    ASSERT_LE(few.size(), 81U);
    ASSERT_GE(few.size(), 40U);
    ASSERT_EQ(peakOf(few), peakOf(levels));
    ASSERT_EQ(few.back(), levels.back());
    for (std::size_t i = 1; i < few.size(); ++i)
      ASSERT_LT(few[i - 1].ns, few[i].ns);
    for (const MemoryLevel& level : few)
      ASSERT_THAT(levels, Contains(level));
  }
  const std::vector<MemoryLevel> levels = {{0, 1}, {5, 3}};
  EXPECT_EQ(thinned(levels, 40), levels);
}

}  // namespace
}  // namespace sonde::engine::metrics
