#include "analysis/engine/correction/cost_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace sonde::engine::correction {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The delay grows by 50 from 100 to 200 and falls by 20 until 300: a wait takes longer there.
Timeline timesWithAWait() {
  Timeline times;
  times.add({100, 0});
  times.add({200, 50});
  times.add({300, 30});
  return times;
}

TEST(CostSpans, AreTheStepsWithACostAndTheirShares) {
  EXPECT_THAT(costSpans(timesWithAWait(), 0, 1'000, 100), ElementsAre(CostSpan{100, 200, 0.5}));
  EXPECT_THAT(costSpans(timesWithAWait(), 150, 1'000, 100),
              ElementsAre(CostSpan{150, 250, 0.15625}));
}

TEST(CostSpans, JoinStepsOfTheSameShare) {
  EXPECT_THAT(costSpans(timesWithAWait(), 0, 1'000, 2), ElementsAre(CostSpan{100, 200, 0.5}));
}

TEST(CostSpans, EndWithTheirTime) {
  EXPECT_THAT(costSpans(timesWithAWait(), 0, 160, 1'000), ElementsAre(CostSpan{0, 160, 0.1875}));
  EXPECT_THAT(costSpans(timesWithAWait(), 120, 160, 2), ElementsAre(CostSpan{120, 160, 0.5}));
}

TEST(CostSpans, AreNoneIfTimesStay) {
  EXPECT_THAT(costSpans(Timeline(), 0, 1'000, 1), IsEmpty());
  EXPECT_THAT(costSpans(timesWithAWait(), 200, 1'000, 7), IsEmpty());
}

// In steps of 2 ns the shares are 0, a half or 1, so that nothing is rounded.
TEST(CostSpans, SumUpToTheWholeCost) {
  std::mt19937 random(1);
  Timeline times;
  std::int64_t at = 0;
  std::int64_t delayNs = 0;
  for (int knot = 0; knot < 100; ++knot) {
    const std::int64_t lengthNs = 2 * std::uniform_int_distribution<std::int64_t>(1, 40)(random);
    const auto halves = std::uniform_int_distribution<std::int64_t>(0, 2)(random);
    at += lengthNs;
    delayNs += lengthNs * halves / 2;
    times.add({at, delayNs});
  }
  double sumNs = 0;
  for (const CostSpan& span : costSpans(times, 0, at + 100, 2))
    sumNs += span.share * static_cast<double>(span.endNs - span.beginNs);
  const std::int64_t firstNs = times.delayAt(0);
  EXPECT_EQ(sumNs, static_cast<double>(delayNs - firstNs));
}

}  // namespace
}  // namespace sonde::engine::correction
