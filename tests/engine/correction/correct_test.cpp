#include "analysis/engine/correction/correct.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace sonde::engine::correction {
namespace {

using End = CostPoint::End;

CostPoint begins(std::int64_t at, std::uint16_t cost = 0) {
  return {at, cost, End::Begin};
}
CostPoint ends(std::int64_t at, std::uint16_t cost = 0) {
  return {at, cost, End::End};
}

// One thread
// ---------------------------------------------------------------------------------------

TEST(Correct, TakesTheCostOfAnEventOutBeforeInsideAndAfterIt) {
  const Program program{{{{begins(0), ends(10), begins(100), ends(150)}}}, {}, {}};
  const auto lanes = correct(program, {{.beforeNs = 3, .insideNs = 5, .afterNs = 2}});
  EXPECT_EQ(lanes[0](0), 0);  // there is no time before the first event to subtract it from
  EXPECT_EQ(lanes[0](10), 5);
  EXPECT_EQ(lanes[0](100), 90);   // 2 and 3
  EXPECT_EQ(lanes[0](150), 135);  // 5
}

TEST(Correct, TakesFromTheNextIntervalWhatDoesNotFitIntoOne) {
  const Program program{{{{begins(0), ends(10), begins(12), ends(14), begins(40)}}}, {}, {}};
  const auto lanes = correct(program, {{.afterNs = 5}});
  EXPECT_EQ(lanes[0](10), 10);
  EXPECT_EQ(lanes[0](12), 10);  // 2 of 5
  EXPECT_EQ(lanes[0](14), 10);  // 2 more
  EXPECT_EQ(lanes[0](40), 30);  // the last one, and 5
}

TEST(Correct, TakesWhatTheLastEventCostsFromWhatComesAfterIt) {
  const auto lanes = correct({{{{begins(0), ends(10)}}}, {}, {}}, {{.insideNs = 4, .afterNs = 5}});
  EXPECT_EQ(lanes[0](10), 6);
  EXPECT_EQ(lanes[0](13), 6);
  EXPECT_EQ(lanes[0](20), 11);
}

TEST(Correct, NeverRunsBackwardsHoweverLargeTheCosts) {
  std::mt19937 random(1);
  Lane lane;
  std::int64_t at = 0;
  for (int event = 0; event < 1000; ++event) {
    lane.points.push_back(begins(at += static_cast<std::int64_t>(random() % 20)));
    lane.points.push_back(ends(at += static_cast<std::int64_t>(random() % 20)));
  }
  const auto lanes = correct({{lane}, {}, {}}, {{.beforeNs = 7, .insideNs = 11, .afterNs = 9}});
  for (std::int64_t time = 1; time <= at; ++time)
    ASSERT_LE(lanes[0](time - 1), lanes[0](time)) << time;
}

TEST(Correct, OfFractionsOfANanosecondNothingIsLost) {
  Lane lane;
  for (std::int64_t event = 0; event <= 1000; ++event)
    lane.points.push_back({event * 100, 0, End::Instant});
  const auto lanes = correct({{lane}, {}, {}}, {{.afterNs = 0.25}});
  EXPECT_EQ(lanes[0](100'000), 100'000 - 250);
}

TEST(Correct, ANegativeCostIsNone) {
  const auto lanes = correct({{{{begins(0), ends(10), begins(20)}}}, {}, {}}, {{.afterNs = -4}});
  EXPECT_EQ(lanes[0](20), 20);
}

// Several
// ------------------------------------------------------------------------------------------

// The waiter has 30 ns of recording before it waits, and would have waited longer by as much.
TEST(Correct, AWaitAbsorbsWhatRecordingTookBeforeIt) {
  const Program program{
      {{{begins(0), ends(10), begins(50), ends(90)}}, {}}, {{0, 1, 50, 90, 85}}, {}};
  const auto lanes = correct(program, {{.afterNs = 30}});
  EXPECT_EQ(lanes[0](50), 20);
  EXPECT_EQ(lanes[0](90), 90);
}

TEST(Correct, AWaiterGoesOnEarlierWhenItsWakerDoes) {
  const Program program{
      {{{begins(50), ends(90)}}, {{begins(0), ends(10), begins(85)}}}, {{0, 1, 50, 90, 85}}, {}};
  const auto lanes = correct(program, {{.afterNs = 20}});
  EXPECT_EQ(lanes[1](85), 65);
  EXPECT_EQ(lanes[0](90), 70);
}

TEST(Correct, AWaiterThatCameLateWaitsOnceItComesEarlier) {
  // The post came at 40, the waiter at 60, so it did not wait. Without its 40 ns of recording it
  // would have come at 20.
  const Program program{
      {{{begins(0), ends(10), begins(60), ends(60)}}, {}}, {{0, 1, 60, 60, 40}}, {}};
  const auto lanes = correct(program, {{.afterNs = 40}});
  EXPECT_EQ(lanes[0](60), 40);
}

TEST(Correct, OfSeveralWakersTheLastCounts) {
  const Program program{
      {{}, {{begins(0), ends(5), begins(70)}}, {}}, {{0, 1, 20, 80, 70}, {0, 2, 20, 80, 60}}, {}};
  const auto lanes = correct(program, {{.afterNs = 30}});
  EXPECT_EQ(lanes[0](80), 70);  // 10 after the second, which is the last one now
}

TEST(Correct, ALaneBeginsWithWhoMadeIt) {
  const Program program{{{{begins(0), ends(10), begins(60)}}, {{begins(50), ends(70)}}},
                        {{1, 0, Wait::kStart, 50, 50}},
                        {}};
  const auto lanes = correct(program, {{.afterNs = 20}});
  EXPECT_EQ(lanes[0](50), 30);
  EXPECT_EQ(lanes[1](50), 30);
  EXPECT_EQ(lanes[1](70), 50);
}

TEST(Correct, AStreamKeepsItsGapWhileItIsBusyAndItsLaunchDelayWhileItIsNot) {
  // Lane 0 launches at 10, 20 and 200, and records each in 8 ns; lane 1 is busy from 30 to 60 and
  // 62 to 92, and idle until 230.
  const Program program{{{{begins(0), ends(10), begins(12), ends(20), begins(150), ends(200)}}, {}},
                        {{1, 0, Wait::kStart, 30, 10}, {1, 0, 60, 62, 20}, {1, 0, 92, 230, 200}},
                        {}};
  const auto lanes = correct(program, {{.afterNs = 8}});
  EXPECT_EQ(lanes[1](30), 30);
  EXPECT_EQ(lanes[1](62), 62);
  EXPECT_EQ(lanes[0](200), 184);
  EXPECT_EQ(lanes[1](230), 214);
}

// A call waits from 10 to 100 for a post at 80, and records an event from 20 to 40 meanwhile. It
// was idle from 40 on.
TEST(Correct, WhatIsRecordedInsideOfAWaitIsTheLanesOwnTime) {
  const Program program{{{{begins(10), begins(20, 1), ends(40, 1), ends(100)}},
                         {{begins(0, 2), ends(0, 2), begins(80, 2)}}},
                        {{0, 1, 10, 100, 80}},
                        {}};
  const auto lanes = correct(program, {{.insideNs = 5}, {.afterNs = 9}, {.afterNs = 70}});
  EXPECT_EQ(lanes[1](80), 10);
  EXPECT_EQ(lanes[0](40), 40);
  EXPECT_EQ(lanes[0](80), 40);  // its own event lasted until then, and its cost was absorbed
  EXPECT_EQ(lanes[0](100), 55);
}

TEST(Correct, AWaitInsideOfAWaitEndsItself) {
  const Program program{{{{begins(10), begins(20), ends(60), ends(100)}},
                         {{begins(0, 1), ends(0, 1), begins(50, 1)}},
                         {}},
                        {{0, 1, 20, 60, 50}, {0, 2, 10, 100, 80}},
                        {}};
  const auto lanes = correct(program, {{}, {.afterNs = 40}});
  EXPECT_EQ(lanes[0](50), 20);  // not before it began
  EXPECT_EQ(lanes[0](60), 30);
  EXPECT_EQ(lanes[0](80), 80);
  EXPECT_EQ(lanes[0](100), 100);
}

TEST(Correct, ASampleInAWaitDoesNotEndThatItIsIdle) {
  const Program program{{{{begins(10), {45, 1, End::Instant}, ends(60)}},
                         {{begins(0, 2), ends(0, 2), begins(50, 2)}}},
                        {{0, 1, 10, 60, 50}},
                        {}};
  const auto lanes = correct(program, {{}, {.afterNs = 3}, {.afterNs = 30}});
  EXPECT_EQ(lanes[0](50), 20);
  EXPECT_EQ(lanes[0](60), 30);
}

// Lane 1 does nothing from 10 to 100, until lane 0 has come, 20 earlier than recorded. Then it
// looks for what came at 50 without it, and lane 3 waits for it.
TEST(Correct, AtOneTimeALaneGoesOnBeforeItWaitsAgainOrLetsOthersGoOn) {
  const Program program{
      {{{begins(0), ends(10), begins(100)}}, {}, {}, {}, {}},
      {{1, 0, 10, 100, 100}, {1, 2, 100, 110, 50}, {3, 1, 30, 100, 100}, {4, 3, 40, 120, 100}},
      {{{{1, 100}, {2, 90}}, {{2, 90, 100}}}}};
  const auto lanes = correct(program, {{.afterNs = 20}});
  for (const std::size_t lane : {0U, 1U, 3U, 4U})
    EXPECT_EQ(lanes[lane](100), 80) << "lane " << lane;
  EXPECT_EQ(lanes[1](110), 90);
  EXPECT_EQ(lanes[2](100), 90) << "it came to the meeting at 90";
}

TEST(Correct, LanesThatLetEachOtherGoOnAtOneTimeDoSo) {
  const Program program{
      {{{begins(0), ends(10), begins(100)}}, {}}, {{0, 1, 10, 100, 100}, {1, 0, 20, 100, 100}}, {}};
  for (const Timeline& lane : correct(program, {{.afterNs = 20}}))
    EXPECT_EQ(lane(100), 100);
}

TEST(Correct, NobodyLeavesAMeetingBeforeTheLastHasCome) {
  // Lane 1 comes last, at 70, and 40 ns of that are recording; corrected, lane 2 is last, at 60.
  const Meeting meeting{{{0, 20}, {1, 70}, {2, 60}}, {{0, 20, 90}, {1, 70, 90}, {2, 60, 90}}};
  const Program program{{{}, {{begins(0), ends(5), begins(70)}}, {}}, {}, {meeting}};
  const auto lanes = correct(program, {{.afterNs = 40}});
  EXPECT_EQ(lanes[1](70), 60);
  for (const Timeline& lane : lanes)
    EXPECT_EQ(lane(90), 80);
}

TEST(Correct, WhoWasDoneBeforeTheOthersCameDidNotWaitForThem) {
  const Meeting meeting{{{0, 20}, {1, 70}}, {{0, 20, 50}, {1, 70, 90}}};
  const Program program{{{{begins(0), ends(5), begins(20)}}, {}}, {}, {meeting}};
  const auto lanes = correct(program, {{.afterNs = 10}});
  EXPECT_EQ(lanes[0](50), 40);
  EXPECT_EQ(lanes[1](90), 90);
}

}  // namespace
}  // namespace sonde::engine::correction
