#include "session/cost_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sonde::session {
namespace {

const CallTimes::key_type kRead{"io", "call"};
const CallTimes::key_type kScope{"annotation", "scope"};
const CallTimes::key_type kLaunch{"cuda", "launch"};

TEST(CallTimesIn, ReadsLinesAndPassesOverOthers) {
  EXPECT_THAT(
      callTimesIn("io|call|250.5\nwarning: no such thing\nannotation|scope|x\n|\ncuda|launch|7\n"),
      ::testing::UnorderedElementsAre(std::pair(kRead, 250.5), std::pair(kLaunch, 7.0)));
  EXPECT_TRUE(callTimesIn("").empty());
}

TEST(CostsOf, IsWhatACallTakesLongerAndWhatOfItStays) {
  const auto costs = costsOf({{{{kRead, 1'000}}, {{kRead, 1'300}}, {{{kRead, 1'060}}}}});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].probe, "io");
  EXPECT_EQ(costs[0].api, "call");
  EXPECT_EQ(costs[0].method, "micro-loop");
  EXPECT_NEAR(costs[0].cost.sumNs(), 300, 1e-9);
  EXPECT_NEAR(costs[0].unrecordedNs, 60, 1e-9);
  EXPECT_NEAR(costs[0].errorNs, 150, 1e-9) << "one round has no spread";
}

// A row of nothing would count before what is assumed.
TEST(CostsOf, TellsNothingOfWhatIsFasterRecorded) {
  EXPECT_TRUE(costsOf({{{{kRead, 1'000}}, {{kRead, 900}}, {{{kRead, 950}}}}}).empty());
  EXPECT_TRUE(costsOf({{{{kRead, 1'000}}, {{kRead, 1'000}}, {{{kRead, 950}}}}}).empty());
}

TEST(CostsOf, LeavesOutWhatTakesLongerOffAndNothingLessThanNothingStays) {
  const auto below = costsOf({{{{kRead, 1'000}}, {{kRead, 1'200}}, {{{kRead, 900}}}}});
  ASSERT_EQ(below.size(), 1U);
  EXPECT_EQ(below[0].unrecordedNs, 0);
  EXPECT_TRUE(costsOf({{{{kRead, 1'000}}, {{kRead, 1'200}}, {{{kRead, 1'500}}}}}).empty())
      << "what takes longer with the probe off was disturbed";
}

// Where the run with the probes off came to nothing, it is not known what stays.
TEST(CostsOf, LeavesOutWhatItDidNotSeeInAllWays) {
  EXPECT_TRUE(costsOf({{{{kRead, 1'000}}, {{kRead, 1'300}}, CallTimes()}}).empty());
  EXPECT_TRUE(costsOf({{{{kRead, 1'000}}, {}, {{{kRead, 1'000}}}}}).empty());
  EXPECT_TRUE(costsOf({{{}, {{kRead, 1'300}}, {{{kRead, 1'000}}}}}).empty());
  EXPECT_TRUE(costsOf({}).empty());
}

TEST(CostsOf, AProbeThatIsNeverOffCostsAllOfItAlways) {
  const auto costs = costsOf({{{{kLaunch, 4'000}}, {{kLaunch, 5'800}}, std::nullopt}});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_NEAR(costs[0].unrecordedNs, 1'800, 1e-9);
}

TEST(CostsOf, WhatIsNeverSwitchedOffHasNothingThatStays) {
  // As dear with others off, by and large.
  for (const double others : {140, 160}) {
    const auto costs = costsOf({{{{kScope, 100}}, {{kScope, 150}}, {{{kScope, others}}}}});
    ASSERT_EQ(costs.size(), 1U);
    EXPECT_NEAR(costs[0].cost.sumNs(), 50, 1e-9);
    EXPECT_EQ(costs[0].unrecordedNs, 0);
  }
}

TEST(CostsOf, OfSeveralRoundsTheLeastCountsAndTheirSpreadIsPartOfTheError) {
  const auto costs = costsOf({{{{kLaunch, 4'000}}, {{kLaunch, 5'900}}, std::nullopt},
                              {{{kLaunch, 4'400}}, {{kLaunch, 5'900}}, std::nullopt},
                              {{{kLaunch, 4'100}}, {{kLaunch, 5'600}}, std::nullopt}});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_NEAR(costs[0].cost.sumNs(), 1'600, 1e-9);
  EXPECT_NEAR(costs[0].errorNs, std::hypot(800, 200), 1e-9);
}

TEST(CostsOf, ARoundThatRecordingMadeFasterIsPartOfTheError) {
  const auto costs = costsOf({{{{kRead, 2'000}}, {{kRead, 1'500}}, {{{kRead, 1'400}}}},
                              {{{kRead, 1'200}}, {{kRead, 1'400}}, {{{kRead, 1'300}}}}});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_NEAR(costs[0].cost.sumNs(), 200, 1e-9);
  EXPECT_NEAR(costs[0].errorNs, std::hypot(100, 350), 1e-9);
}

TEST(CostsOf, TellsNothingOfWhatDoesNotShowBeyondTheSpreadWhereItHasTo) {
  const std::vector<CostRound> rounds = {{{{kLaunch, 4'000}}, {{kLaunch, 5'900}}, std::nullopt},
                                         {{{kLaunch, 5'800}}, {{kLaunch, 4'500}}, std::nullopt}};
  EXPECT_TRUE(costsOf(rounds, {2, true}).empty());
  EXPECT_EQ(costsOf(rounds).size(), 1U);
}

TEST(CostsOf, TellsNothingOfWhatTooFewRoundsHave) {
  const std::vector<CostRound> rounds = {
      {{{kLaunch, 4'000}, {kRead, 100}}, {{kLaunch, 5'900}, {kRead, 300}}, std::nullopt},
      {{{kLaunch, 4'000}, {kRead, 100}}, {{kLaunch, 5'800}}, std::nullopt},
      {{{kLaunch, 3'000}}, {}, std::nullopt}};
  const auto costs = costsOf(rounds, {2, false});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].api, "launch");
  EXPECT_NEAR(costs[0].cost.sumNs(), 1'800, 1e-9) << "of rounds that have both";
  EXPECT_EQ(costsOf(rounds).size(), 2U);
}

}  // namespace
}  // namespace sonde::session
