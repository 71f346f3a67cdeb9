#include "analysis/engine/breakdown/loser_tree.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

using Sequences = std::vector<std::vector<std::int64_t>>;

// Each value must be the next one of the reported sequence.
std::vector<std::int64_t> merged(const Sequences& sequences) {
  std::vector<std::size_t> next(sequences.size(), 0);
  const auto nextOf = [&](std::size_t sequence) {
    const std::vector<std::int64_t>& values = sequences[sequence];
    return next[sequence] < values.size() ? values[next[sequence]] : LoserTree::kEnded;
  };
  std::vector<std::int64_t> first;
  for (std::size_t at = 0; at < sequences.size(); ++at)
    first.push_back(nextOf(at));
  std::vector<std::int64_t> values;
  for (LoserTree tree(first); tree.value() != LoserTree::kEnded;) {
    const std::size_t sequence = tree.sequence();
    EXPECT_EQ(tree.value(), nextOf(sequence));
    values.push_back(tree.value());
    ++next[sequence];
    tree.replace(nextOf(sequence));
  }
  return values;
}

// The numbers are those of reference/rl-scope.md, section 4: EachMerged and merge_sorted.
TEST(LoserTree, Case11MergesThreeSequences) {
  const std::vector<std::int64_t> values =
      merged({{'b', 'c', 'i'}, {'a', 'b', 'i'}, {'a', 'b', 'd', 'e', 'f', 'g', 'h', 'i'}});
  EXPECT_EQ(std::string(values.begin(), values.end()), "aabbbcdefghiii");
}

TEST(LoserTree, Case11MergesTwoOfWhichOneSurroundsTheOther) {
  EXPECT_EQ(merged({{5, 6, 7, 8}, {1, 2, 3, 4, 5, 9, 10, 11}}),
            (std::vector<std::int64_t>{1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(LoserTree, OfNothingAndOfSequencesThatAreEmptyNothingIsLeft) {
  EXPECT_TRUE(merged({}).empty());
  EXPECT_TRUE(merged({{}, {}, {}}).empty());
  EXPECT_EQ(merged({{}, {7}, {}}), (std::vector<std::int64_t>{7}));
}

}  // namespace
}  // namespace sonde::engine::breakdown
