#include "recorder/calibrate/cost_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sonde::recorder {
namespace {

using engine::correction::MeasuredCost;

const CallTimes::key_type kRead{"io", "call"};
const CallTimes::key_type kScope{"annotation", "scope"};
const CallTimes::key_type kLaunch{"cuda", "launch"};

TEST(CallTimesIn, ReadsLinesAndPassesOverOthers) {
  EXPECT_THAT(
      callTimesIn("io|call|250.5\nwarning: no such thing\nannotation|scope|x\n|\ncuda|launch|7\n"),
      ::testing::UnorderedElementsAre(std::pair(kRead, 250.5), std::pair(kLaunch, 7.0)));
  EXPECT_TRUE(callTimesIn("").empty());
}

// The costs from two rounds that agree.
std::vector<MeasuredCost> costsOfTwo(const CostRound& round) {
  return costsOf({round, round});
}

TEST(CostsOf, IsWhatACallTakesLongerAndWhatOfItStays) {
  const auto costs = costsOfTwo({{{kRead, 1'000}}, {{kRead, 1'300}}, {{{kRead, 1'060}}}});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].probe, "io");
  EXPECT_EQ(costs[0].api, "call");
  EXPECT_EQ(costs[0].method, "micro-loop");
  EXPECT_NEAR(costs[0].cost.sumNs(), 300, 1e-9);
  EXPECT_NEAR(costs[0].unrecordedNs, 60, 1e-9);
  EXPECT_NEAR(costs[0].errorNs, 150, 1e-9);
}

// A row with a cost of 0 would take precedence over the assumed cost.
TEST(CostsOf, TellsNothingOfWhatIsFasterRecorded) {
  EXPECT_TRUE(costsOfTwo({{{kRead, 1'000}}, {{kRead, 900}}, {{{kRead, 850}}}}).empty());
  EXPECT_TRUE(costsOfTwo({{{kRead, 1'000}}, {{kRead, 1'000}}, {{{kRead, 950}}}}).empty());
}

TEST(CostsOf, LeavesOutWhatTakesLongerOffAndNothingLessThanNothingStays) {
  const auto below = costsOfTwo({{{kRead, 1'000}}, {{kRead, 1'200}}, {{{kRead, 900}}}});
  ASSERT_EQ(below.size(), 1U);
  EXPECT_EQ(below[0].unrecordedNs, 0);
  EXPECT_TRUE(costsOfTwo({{{kRead, 1'000}}, {{kRead, 1'200}}, {{{kRead, 1'500}}}}).empty())
      << "what takes longer with the probe off was disturbed";
}

// If the runs with the probes off failed, the remaining cost is unknown.
TEST(CostsOf, LeavesOutWhatItDidNotSeeInAllWays) {
  EXPECT_TRUE(costsOfTwo({{{kRead, 1'000}}, {{kRead, 1'300}}, CallTimes()}).empty());
  EXPECT_TRUE(costsOfTwo({{{kRead, 1'000}}, {}, {{{kRead, 1'000}}}}).empty());
  EXPECT_TRUE(costsOfTwo({{}, {{kRead, 1'300}}, {{{kRead, 1'000}}}}).empty());
  EXPECT_TRUE(costsOf({}).empty());
}

TEST(CostsOf, AProbeThatIsNeverOffCostsAllOfItAlways) {
  const auto costs = costsOfTwo({{{kLaunch, 4'000}}, {{kLaunch, 5'800}}, std::nullopt});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_NEAR(costs[0].unrecordedNs, 1'800, 1e-9);
}

TEST(CostsOf, WhatIsNeverSwitchedOffHasNothingThatStays) {
  // Costs about the same with others off.
  for (const double others : {140, 160}) {
    const auto costs = costsOfTwo({{{kScope, 100}}, {{kScope, 150}}, {{{kScope, others}}}});
    ASSERT_EQ(costs.size(), 1U);
    EXPECT_NEAR(costs[0].cost.sumNs(), 50, 1e-9);
    EXPECT_EQ(costs[0].unrecordedNs, 0);
  }
}

TEST(CostsOf, IsOfTheLeastTimesAndTheSecondLeastSayHowSureTheyAre) {
  const auto costs = costsOf({{{{kRead, 2'000}}, {{kRead, 1'500}}, {{{kRead, 1'400}}}},
                              {{{kRead, 1'000}}, {{kRead, 1'340}}, {{{kRead, 1'060}}}},
                              {{{kRead, 1'030}}, {{kRead, 1'300}}, {{{kRead, 1'200}}}}});
  ASSERT_EQ(costs.size(), 1U) << "also where one of them was faster recorded";
  EXPECT_NEAR(costs[0].cost.sumNs(), 300, 1e-9);
  EXPECT_NEAR(costs[0].errorNs, std::hypot(150, 30, 40), 1e-9);
  EXPECT_NEAR(costs[0].unrecordedNs, 60, 1e-9);
}

TEST(CostsOf, TellsNothingOfWhatDoesNotShowBeyondThat) {
  const CostRound first{{{kLaunch, 4'000}}, {{kLaunch, 5'900}}, std::nullopt};
  EXPECT_TRUE(costsOf({first, {{{kLaunch, 4'000}}, {{kLaunch, 4'900}}, std::nullopt}}).empty());
  EXPECT_TRUE(costsOf({first, {{{kLaunch, 5'900}}, {{kLaunch, 5'900}}, std::nullopt}}).empty());
  EXPECT_EQ(costsOf({first, {{{kLaunch, 4'000}}, {{kLaunch, 5'000}}, std::nullopt}}).size(), 1U);
}

TEST(CostsOf, TellsNothingOfWhatOneRoundHas) {
  const auto costs =
      costsOf({{{{kLaunch, 4'000}, {kRead, 100}}, {{kLaunch, 5'800}, {kRead, 300}}, std::nullopt},
               {{{kLaunch, 4'000}, {kRead, 100}}, {{kLaunch, 5'800}}, std::nullopt},
               {{{kLaunch, 3'000}}, {}, std::nullopt}});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].api, "launch");
  EXPECT_NEAR(costs[0].cost.sumNs(), 1'800, 1e-9) << "of rounds that have both";
}

}  // namespace
}  // namespace sonde::recorder
