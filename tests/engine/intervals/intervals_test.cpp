#include "analysis/engine/intervals/intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bitset>
#include <random>
#include <vector>

namespace sonde::engine::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kSpan = 64;
using Instants = std::bitset<kSpan>;  // the oracle: one bit an instant

Instants paint(const Intervals& intervals) {
  Instants instants;
  for (const Interval& interval : intervals)
    for (std::int64_t at = interval.begin; at < interval.end; ++at)
      instants.set(static_cast<std::size_t>(at));
  return instants;
}

bool isNormal(const Intervals& intervals) {
  for (std::size_t i = 0; i < intervals.size(); ++i)
    if (intervals[i].end <= intervals[i].begin ||
        (i > 0 && intervals[i].begin <= intervals[i - 1].end))
      return false;
  return true;
}

Intervals randomIntervals(std::mt19937& random) {
  std::uniform_int_distribution<int> count(0, 12);
  std::uniform_int_distribution<int> place(0, kSpan - 1);
  std::uniform_int_distribution<int> length(-1, 14);
  Intervals intervals(static_cast<std::size_t>(count(random)));
  for (Interval& interval : intervals) {
    interval.begin = place(random);
    interval.end = std::min(kSpan, static_cast<int>(interval.begin) + length(random));
  }
  return intervals;
}

TEST(Intervals, NormaliseMergesWhatTouchesAndDropsWhatIsEmpty) {
  EXPECT_THAT(normalise({{5, 7}, {1, 3}, {3, 4}, {9, 9}, {12, 10}, {6, 8}}),
              ElementsAre(Interval{1, 4}, Interval{5, 8}));
  EXPECT_THAT(normalise({}), IsEmpty());
}

TEST(Intervals, HoldTheirBeginsAndNotTheirEnds) {
  const Intervals intervals{{3, 5}, {8, 9}};
  std::vector<int> held;
  for (int at = 0; at < 12; ++at) {
    if (holds(intervals, at))
      held.push_back(at);
  }
  EXPECT_THAT(held, ElementsAre(3, 4, 8));
}

TEST(Intervals, SubtractKeepsBothSidesOfAHole) {
  EXPECT_THAT(subtract({{0, 10}}, {{2, 3}, {5, 20}}), ElementsAre(Interval{0, 2}, Interval{3, 5}));
  EXPECT_THAT(subtract({{0, 4}, {6, 9}}, {{3, 7}}), ElementsAre(Interval{0, 3}, Interval{7, 9}));
}

TEST(Intervals, KeepsNanosecondsOfTheEpochExactly) {
  constexpr std::int64_t kNow = 1'700'000'000'123'456'789;
  EXPECT_EQ(totalLength(normalise({{kNow, kNow + 1}, {kNow + 2, kNow + 4}})), 3);
}

TEST(Intervals, AgreesWithAnOracleThatPaintsEveryInstant) {
  std::mt19937 random(20261121);  // the same cases in every run
  for (int round = 0; round < 20'000; ++round) {
    const Intervals rawA = randomIntervals(random);
    const Intervals rawB = randomIntervals(random);
    const Intervals a = normalise(rawA);
    const Intervals b = normalise(rawB);
    ASSERT_TRUE(isNormal(a));
    ASSERT_EQ(paint(a), paint(rawA));
    for (const auto& [result, expected] : {std::pair(unite(a, b), paint(a) | paint(b)),
                                           std::pair(intersect(a, b), paint(a) & paint(b)),
                                           std::pair(subtract(a, b), paint(a) & ~paint(b))}) {
      ASSERT_TRUE(isNormal(result)) << "round " << round;
      ASSERT_EQ(paint(result), expected) << "round " << round;
      ASSERT_EQ(totalLength(result), static_cast<std::int64_t>(expected.count()));
    }
  }
}

}  // namespace
}  // namespace sonde::engine::metrics
