#include "analysis/engine/breakdown/innermost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

using Spans = std::vector<Span>;

constexpr Label kA = 0;
constexpr Label kB = 1;

Spans spansOf(const Track& track) {
  Spans spans;
  for (std::size_t at = 0; at < track.size(); ++at)
    spans.push_back(track[at]);
  return spans;
}

// In the required order: by begin, the outer one first.
Spans sorted(Spans slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  return slices;
}

Spans innermost(const Spans& slices) {
  Innermost open;
  for (const Span& slice : sorted(slices))
    open.add(slice);
  return spansOf(open.finish());
}

// The numbers are from reference/rl-scope.md, section 4.
TEST(Innermost, Case7OneInsideAnother) {
  EXPECT_EQ(innermost({{1, 2, kA}, {0, 3, kB}}), (Spans{{0, 1, kB}, {1, 2, kA}, {2, 3, kB}}));
  EXPECT_EQ(innermost({{0, 1, kA}, {0, 3, kB}}), (Spans{{0, 1, kA}, {1, 3, kB}}));
  EXPECT_EQ(innermost({{2, 3, kA}, {0, 3, kB}}), (Spans{{0, 2, kB}, {2, 3, kA}}));
  EXPECT_EQ(innermost({{1, 2, kA}, {3, 4, kA}, {0, 5, kB}}),
            (Spans{{0, 1, kB}, {1, 2, kA}, {2, 3, kB}, {3, 4, kA}, {4, 5, kB}}));
  EXPECT_EQ(innermost({{1, 2, kA}, {3, 4, kA}, {7, 8, kA}, {9, 10, kA}, {0, 5, kB}, {6, 11, kB}}),
            (Spans{{0, 1, kB},
                   {1, 2, kA},
                   {2, 3, kB},
                   {3, 4, kA},
                   {4, 5, kB},
                   {6, 7, kB},
                   {7, 8, kA},
                   {8, 9, kB},
                   {9, 10, kA},
                   {10, 11, kB}}));
}

// RL-Scope reads file by file; here open slices continue in the next part.
TEST(Innermost, Case8InPartsAsInOne) {
  Innermost open;
  open.add({0, 5, kB});
  open.add({1, 2, kA});
  EXPECT_EQ(open.at(3), kB);
  open.add({3, 4, kA});
  EXPECT_EQ(spansOf(open.finish()),
            (Spans{{0, 1, kB}, {1, 2, kA}, {2, 3, kB}, {3, 4, kA}, {4, 5, kB}}));
}

TEST(Innermost, Case9Operations) {
  constexpr Label kOp1 = 1;
  constexpr Label kOp2 = 2;
  constexpr Label kOp3 = 3;
  const Spans nested = innermost({{0, 5, kOp1}, {1, 4, kOp2}, {2, 3, kOp3}, {5, 8, 4}, {6, 7, 5}});
  EXPECT_EQ(nested,
            (Spans{{0, 1, kOp1},
                   {1, 2, kOp2},
                   {2, 3, kOp3},
                   {3, 4, kOp2},
                   {4, 5, kOp1},
                   {5, 6, 4},
                   {6, 7, 5},
                   {7, 8, 4}}));
  Spans first;
  std::copy_if(nested.begin(), nested.end(), std::back_inserter(first), [](const Span& span) {
    return span.label == kOp1;
  });
  EXPECT_EQ(first, (Spans{{0, 1, kOp1}, {4, 5, kOp1}}));
  EXPECT_EQ(innermost({{0, 5, kOp1}, {1, 2, kOp2}, {3, 4, kOp3}}),
            (Spans{{0, 1, kOp1}, {1, 2, kOp2}, {2, 3, kOp1}, {3, 4, kOp3}, {4, 5, kOp1}}));
}

TEST(Innermost, Case9RealMicroseconds) {
  constexpr std::int64_t kTrain = 1'551'209'039'576'428;
  constexpr std::int64_t kForward = 1'551'209'039'576'444;
  const Spans spans =
      innermost({{kTrain, kTrain + 1'180'757, kA}, {kForward, kForward + 1'178'289, kB}});
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].end - spans[0].begin, 16);
  EXPECT_EQ(spans[1].end - spans[1].begin, 1'178'289);
  EXPECT_EQ(spans[2].end - spans[2].begin, 2452);
}

TEST(Innermost, OneThatEndsAfterWhatIsAroundItCountsToItsEnd) {
  EXPECT_EQ(innermost({{0, 10, kA}, {5, 15, kB}}), (Spans{{0, 5, kA}, {5, 15, kB}}));
}

TEST(Innermost, WhatTakesNoTimeIsNotThere) {
  EXPECT_EQ(innermost({{0, 4, kA}, {2, 2, kB}, {3, 1, kB}}), (Spans{{0, 4, kA}}));
  EXPECT_TRUE(innermost({{2, 2, kB}}).empty());
}

// Compares with the open slice that began last, instant by instant.
TEST(Innermost, IsWhatEachInstantSays) {
  std::mt19937 random(11);
  for (int round = 0; round < 100'000; ++round) {
    constexpr std::int64_t kEnd = 30;
    const auto below = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random()) % most;
    };
    Spans slices;
    const std::int64_t count = below(10);
    for (Label label = 0; label < count; ++label) {
      const std::int64_t begin = below(kEnd);
      slices.push_back({begin, begin + below(kEnd - begin + 1), label});
    }
    std::vector<int> expected(kEnd, -1);
    for (const Span& slice : sorted(slices))
      for (std::int64_t at = slice.begin; at < slice.end; ++at)
        expected[static_cast<std::size_t>(at)] = static_cast<int>(slice.label);
    std::vector<int> found(kEnd, -1);
    std::int64_t last = 0;
    for (const Span& span : innermost(slices)) {
      ASSERT_GE(span.begin, last);
      last = span.end;
      for (std::int64_t at = span.begin; at < span.end; ++at)
        found[static_cast<std::size_t>(at)] = static_cast<int>(span.label);
    }
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace sonde::engine::breakdown
