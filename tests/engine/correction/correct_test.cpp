#include "analysis/engine/correction/correct.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace sonde::engine::correction {
namespace {

using ::testing::ElementsAre;
using End = CostPoint::End;

CostPoint begins(std::int64_t at, std::uint16_t cost = 0) {
  return {at, cost, End::Begin};
}
CostPoint ends(std::int64_t at, std::uint16_t cost = 0) {
  return {at, cost, End::End};
}

TEST(Timeline, IsItsTimesWithoutAnyKnots) {
  EXPECT_EQ(Timeline()(42), 42);
}

TEST(Timeline, GoesEvenlyFromKnotToKnot) {
  Timeline timeline;
  timeline.add({100, 0});
  timeline.add({200, 50});
  EXPECT_EQ(timeline(50), 50);
  EXPECT_EQ(timeline(150), 125);
  EXPECT_EQ(timeline(200), 150);
  EXPECT_EQ(timeline(1000), 950);
}

TEST(Timeline, KeepsOnlyKnotsWhereItTurns) {
  Timeline timeline;
  for (const std::int64_t at : {0, 100, 200, 300})
    timeline.add({at, at / 10});
  timeline.add({400, 30});
  EXPECT_THAT(timeline.knots(),
              ElementsAre(Timeline::Knot{0, 0}, Timeline::Knot{300, 30}, Timeline::Knot{400, 30}));
}

TEST(Timeline, HoldsTimesOfTheEpochAndDelaysOfHours) {
  constexpr std::int64_t kEpoch = 1'800'000'000'000'000'000;
  constexpr std::int64_t kHours = 36'000'000'000'000;
  Timeline timeline;
  timeline.add({kEpoch, 0});
  timeline.add({kEpoch + 2 * kHours, kHours});
  EXPECT_EQ(timeline(kEpoch + kHours), kEpoch + kHours / 2);
}

// One thread
// ---------------------------------------------------------------------------------------

TEST(Correct, TakesTheCostOfAnEventOutBeforeInsideAndAfterIt) {
  const Program program{{{{begins(0), ends(10), begins(100), ends(150)}}}, {}};
  const auto lanes = correct(program, {{.beforeNs = 3, .insideNs = 5, .afterNs = 2}});
  EXPECT_EQ(lanes[0](0), 0);  // nothing is there before the first event to take it from
  EXPECT_EQ(lanes[0](10), 5);
  EXPECT_EQ(lanes[0](100), 90);   // 2 and 3
  EXPECT_EQ(lanes[0](150), 135);  // 5
}

TEST(Correct, TakesFromTheNextIntervalWhatDoesNotFitIntoOne) {
  const Program program{{{{begins(0), ends(10), begins(12), ends(14), begins(40)}}}, {}};
  const auto lanes = correct(program, {{.afterNs = 5}});
  EXPECT_EQ(lanes[0](10), 10);
  EXPECT_EQ(lanes[0](12), 10);  // 2 of 5
  EXPECT_EQ(lanes[0](14), 10);  // 2 more
  EXPECT_EQ(lanes[0](40), 30);  // the last one, and 5
}

TEST(Correct, NeverRunsBackwardsHoweverLargeTheCosts) {
  std::mt19937 random(1);
  Lane lane;
  std::int64_t at = 0;
  for (int event = 0; event < 1000; ++event) {
    lane.points.push_back(begins(at += static_cast<std::int64_t>(random() % 20)));
    lane.points.push_back(ends(at += static_cast<std::int64_t>(random() % 20)));
  }
  const auto lanes = correct({{lane}, {}}, {{.beforeNs = 7, .insideNs = 11, .afterNs = 9}});
  for (std::int64_t time = 1; time <= at; ++time)
    ASSERT_LE(lanes[0](time - 1), lanes[0](time)) << time;
}

TEST(Correct, OfFractionsOfANanosecondNothingIsLost) {
  Lane lane;
  for (std::int64_t event = 0; event <= 1000; ++event)
    lane.points.push_back({event * 100, 0, End::Instant});
  const auto lanes = correct({{lane}, {}}, {{.afterNs = 0.25}});
  EXPECT_EQ(lanes[0](100'000), 100'000 - 250);
}

TEST(Correct, ANegativeCostIsNone) {
  const auto lanes = correct({{{{begins(0), ends(10), begins(20)}}}, {}}, {{.afterNs = -4}});
  EXPECT_EQ(lanes[0](20), 20);
}

// Several
// ------------------------------------------------------------------------------------------

// The waiter has 30 ns of recording before it waits, and would have waited for so much longer.
TEST(Correct, AWaitAbsorbsWhatRecordingTookBeforeIt) {
  const Program program{{{{begins(0), ends(10), begins(50), ends(90)}}, {}}, {{0, 1, 50, 90, 85}}};
  const auto lanes = correct(program, {{.afterNs = 30}});
  EXPECT_EQ(lanes[0](50), 20);
  EXPECT_EQ(lanes[0](90), 90);
}

TEST(Correct, AWaiterGoesOnEarlierWhenItsWakerDoes) {
  const Program program{{{{begins(50), ends(90)}}, {{begins(0), ends(10), begins(85)}}},
                        {{0, 1, 50, 90, 85}}};
  const auto lanes = correct(program, {{.afterNs = 20}});
  EXPECT_EQ(lanes[1](85), 65);
  EXPECT_EQ(lanes[0](90), 70);
}

TEST(Correct, AWaiterThatCameLateWaitsOnceItComesEarlier) {
  // The post came at 40, the waiter at 60, without waiting; without its 40 ns of recording it would
  // have come at 20.
  const Program program{{{{begins(0), ends(10), begins(60), ends(60)}}, {}}, {{0, 1, 60, 60, 40}}};
  const auto lanes = correct(program, {{.afterNs = 40}});
  EXPECT_EQ(lanes[0](60), 40);
}

TEST(Correct, OfSeveralWakersTheLastCounts) {
  const Program program{{{}, {{begins(0), ends(5), begins(70)}}, {}},
                        {{0, 1, 20, 80, 70}, {0, 2, 20, 80, 60}}};
  const auto lanes = correct(program, {{.afterNs = 30}});
  EXPECT_EQ(lanes[0](80), 70);  // 10 after the second, which is the last one now
}

TEST(Correct, ALaneBeginsWithWhoMadeIt) {
  const Program program{{{{begins(0), ends(10), begins(60)}}, {{begins(50), ends(70)}}},
                        {{1, 0, Wait::kStart, 50, 50}}};
  const auto lanes = correct(program, {{.afterNs = 20}});
  EXPECT_EQ(lanes[0](50), 30);
  EXPECT_EQ(lanes[1](50), 30);
  EXPECT_EQ(lanes[1](70), 50);
}

TEST(Correct, AStreamKeepsItsGapWhileItIsBusyAndItsLaunchDelayWhileItIsNot) {
  // Lane 0 launches at 10, 20 and 200 and records each in 8 ns; lane 1 is busy from 30 to 60 and 62
  // to 92, and idle until 230.
  const Program program{{{{begins(0), ends(10), begins(12), ends(20), begins(150), ends(200)}}, {}},
                        {{1, 0, Wait::kStart, 30, 10}, {1, 0, 60, 62, 20}, {1, 0, 92, 230, 200}}};
  const auto lanes = correct(program, {{.afterNs = 8}});
  EXPECT_EQ(lanes[1](30), 30);
  EXPECT_EQ(lanes[1](62), 62);
  EXPECT_EQ(lanes[0](200), 184);
  EXPECT_EQ(lanes[1](230), 214);
}

// A run that is made up: threads that work, record, and wait for one another. What it would have
// been without recording is known, since it is run without, too.
class RandomRun {
 public:
  RandomRun(std::uint32_t seed, int lanes, int steps) : random_(seed), lanes_(lanes) {
    for (int step = 0; step < steps; ++step)
      script_.push_back({static_cast<int>(random_() % static_cast<unsigned>(lanes)),
                         static_cast<int>(random_() % static_cast<unsigned>(lanes)),
                         random_() % 3 == 0,
                         static_cast<std::int64_t>(random_() % 50),
                         static_cast<std::int64_t>(random_() % 30)});
  }

  struct Result {
    Program program;
    std::vector<std::pair<LaneIndex, std::int64_t>> events;  // in an order that both runs share
  };

  Result run(const EventCost& cost) const {
    Result result;
    // All are there from the beginning, so that there is time to take the first costs out of.
    result.program.lanes.assign(static_cast<std::size_t>(lanes_), {{{0, 1, End::Instant}}});
    std::vector<std::int64_t> now(static_cast<std::size_t>(lanes_), 0);
    for (const Step& step : script_) {
      const auto self = static_cast<std::size_t>(step.lane);
      now[self] += step.work + whole(cost.beforeNs);
      const std::int64_t begin = now[self];
      std::int64_t end = begin + step.inside + whole(cost.insideNs);
      if (step.waits && step.waker != step.lane) {
        const std::int64_t post = now[static_cast<std::size_t>(step.waker)];
        end = std::max(begin, post) + step.inside + whole(cost.insideNs);
        result.program.waits.push_back({static_cast<LaneIndex>(step.lane),
                                        static_cast<LaneIndex>(step.waker),
                                        begin,
                                        end,
                                        post});
      }
      now[self] = end + whole(cost.afterNs);
      result.program.lanes[self].points.push_back(begins(begin));
      result.program.lanes[self].points.push_back(ends(end));
      result.events.emplace_back(step.lane, begin);
      result.events.emplace_back(step.lane, end);
    }
    return result;
  }

 private:
  struct Step {
    int lane;
    int waker;
    bool waits;
    std::int64_t work;
    std::int64_t inside;
  };
  static std::int64_t whole(double ns) { return static_cast<std::int64_t>(ns); }

  std::mt19937 random_;
  int lanes_;
  std::vector<Step> script_;
};

TEST(Correct, GivesRandomRunsTheTimesThatTheyHaveWithoutRecording) {
  const EventCost cost{.beforeNs = 4, .insideNs = 3, .afterNs = 9};
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const RandomRun run(seed, 1 + static_cast<int>(seed % 5), 60);
    const auto recorded = run.run(cost);
    const auto bare = run.run({});
    const auto lanes = correct(recorded.program, {cost, {}});
    for (std::size_t at = 0; at < bare.events.size(); at += 2) {
      const auto [lane, begin] = recorded.events[at];
      ASSERT_EQ(lanes[lane](recorded.events[at + 1].second), bare.events[at + 1].second)
          << "seed " << seed << ", event " << at;
      // Where a thread waits that did not wait when it was recorded, two times come of one.
      ASSERT_GE(lanes[lane](begin), bare.events[at].second) << "seed " << seed << ", event " << at;
      ASSERT_LE(lanes[lane](begin), bare.events[at + 1].second);
    }
  }
}

}  // namespace
}  // namespace sonde::engine::correction
