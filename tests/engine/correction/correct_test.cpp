#include "analysis/engine/correction/correct.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
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

TEST(Timeline, ACursorFindsWhatALookUpDoes) {
  std::mt19937 random(1);
  Timeline timeline;
  std::int64_t at = 0;
  std::int64_t delay = 0;
  for (int knot = 0; knot < 500; ++knot) {
    timeline.add({at, delay});
    const auto step = static_cast<std::int64_t>(random() % 50);
    at += step;
    delay += static_cast<std::int64_t>(random() % (static_cast<unsigned>(step) + 1));
  }
  Timeline::Cursor cursor(timeline);
  for (int time = 0; time < 20'000; ++time) {
    const auto near = static_cast<std::int64_t>(random() % 100);
    const auto ns = time % 7 == 0 ? static_cast<std::int64_t>(random() % 15'000) - 100
                                  : time * at / 20'000 + near;
    ASSERT_EQ(cursor(ns), timeline(ns)) << ns;
  }
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
  const Program program{{{{begins(0), ends(10), begins(100), ends(150)}}}, {}, {}};
  const auto lanes = correct(program, {{.beforeNs = 3, .insideNs = 5, .afterNs = 2}});
  EXPECT_EQ(lanes[0](0), 0);  // nothing is there before the first event to take it from
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

// The waiter has 30 ns of recording before it waits, and would have waited for so much longer.
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
  // The post came at 40, the waiter at 60, without waiting; without its 40 ns of recording it would
  // have come at 20.
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
  // Lane 0 launches at 10, 20 and 200 and records each in 8 ns; lane 1 is busy from 30 to 60 and 62
  // to 92, and idle until 230.
  const Program program{{{{begins(0), ends(10), begins(12), ends(20), begins(150), ends(200)}}, {}},
                        {{1, 0, Wait::kStart, 30, 10}, {1, 0, 60, 62, 20}, {1, 0, 92, 230, 200}},
                        {}};
  const auto lanes = correct(program, {{.afterNs = 8}});
  EXPECT_EQ(lanes[1](30), 30);
  EXPECT_EQ(lanes[1](62), 62);
  EXPECT_EQ(lanes[0](200), 184);
  EXPECT_EQ(lanes[1](230), 214);
}

// A call that waits from 10 to 100 for a post at 80 and meanwhile records an event from 20 to 40.
// It was idle from 40 on.
TEST(Correct, WhatIsRecordedInsideOfAWaitIsTheLanesOwnTime) {
  const Program program{{{{begins(10), begins(20, 1), ends(40, 1), ends(100)}},
                         {{begins(0, 2), ends(0, 2), begins(80, 2)}}},
                        {{0, 1, 10, 100, 80}},
                        {}};
  const auto lanes = correct(program, {{.insideNs = 5}, {.afterNs = 9}, {.afterNs = 70}});
  EXPECT_EQ(lanes[1](80), 10);
  EXPECT_EQ(lanes[0](40), 40);
  EXPECT_EQ(lanes[0](80), 40);  // its own event took until then, and what that cost was absorbed
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

// Lane 1 does nothing from 10 to 100, until lane 0 has come there, 20 earlier than it was recorded;
// then it looks for what had come at 50 without it, and lane 3 waits for it.
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
  // Lane 1 comes last, at 70, and 40 ns of that are recording; then lane 2 is the last, at 60.
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

// A run that is made up: threads that work, record, start others, meet, and wait for one another,
// also inside of waits. What it would have been without recording is known, since it is run
// without, too.
class RandomRun {
 public:
  RandomRun(std::uint32_t seed, int lanes, int steps) : random_(seed), lanes_(lanes) {
    for (int step = 0; step < steps; ++step)
      script_.push_back({static_cast<Step::What>(random_() % 8),
                         random_() % static_cast<unsigned>(lanes),
                         random_() % static_cast<unsigned>(lanes),
                         static_cast<std::int64_t>(random_() % 50),
                         static_cast<std::int64_t>(random_() % 30)});
  }

  struct Event {
    LaneIndex lane;
    std::int64_t begin;
    std::int64_t end;
  };
  struct Result {
    Program program;
    std::vector<Event>
        events;  // in an order that both runs share; those inside of waits are not there
  };

  Result run(const EventCost& cost) const {
    Runner runner(lanes_, cost);
    for (const Step& step : script_)
      runner.take(step);
    return runner.finish();
  }

 private:
  struct Step {
    enum class What { Event, Event2, Wait, Wait2, Open, Close, Start, Meet } what;
    std::size_t lane;
    std::size_t other;
    std::int64_t work;
    std::int64_t inside;
  };

  class Runner {
   public:
    // The first half is there from the beginning, so that there is time to take the first costs out
    // of; the rest is started.
    Runner(int lanes, const EventCost& cost)
        : cost_(cost), threads_(static_cast<std::size_t>(lanes)) {
      result_.program.lanes.resize(threads_.size());
      for (std::size_t lane = 0; lane < (threads_.size() + 1) / 2; ++lane) {
        threads_[lane].isThere = true;
        points(lane).push_back({0, 1, End::Instant});
      }
    }

    void take(const Step& step) {
      if (step.what == Step::What::Start)
        return start(step);
      if (!threads_[step.lane].isThere)
        return;
      switch (step.what) {
        case Step::What::Event:
        case Step::What::Event2:
          return event(step, false);
        case Step::What::Wait:
        case Step::What::Wait2:
          return event(step, true);
        case Step::What::Open:
          return open(step);
        case Step::What::Close:
          return close(step);
        case Step::What::Meet:
          return meet(step);
        case Step::What::Start:
          return;
      }
    }

    Result finish() {
      for (std::size_t lane = 0; lane < threads_.size(); ++lane)
        close({Step::What::Close, lane, lane, 0, 0});
      return std::move(result_);
    }

   private:
    struct Thread {
      bool isThere = false;
      std::int64_t now = 0;
      std::optional<std::int64_t> openedAt;  // a wait inside of which it is
    };

    static std::int64_t whole(double ns) { return static_cast<std::int64_t>(ns); }
    std::vector<CostPoint>& points(std::size_t lane) { return result_.program.lanes[lane].points; }
    static LaneIndex index(std::size_t lane) { return static_cast<LaneIndex>(lane); }
    // Where others can see what it does: of what lies in waits the order is not told.
    bool canBeSeen(std::size_t lane) const {
      return threads_[lane].isThere && !threads_[lane].openedAt;
    }

    std::int64_t beginAt(std::size_t lane, std::int64_t work) {
      Thread& self = threads_[lane];
      self.now += (self.openedAt ? 0 : work) + whole(cost_.beforeNs);
      points(lane).push_back(begins(self.now));
      return self.now;
    }
    void endAt(std::size_t lane, std::int64_t begin, std::int64_t idleUntil, std::int64_t inside) {
      Thread& self = threads_[lane];
      const std::int64_t end =
          std::max(self.now, idleUntil) + (self.openedAt ? 0 : inside) + whole(cost_.insideNs);
      points(lane).push_back(ends(end));
      if (!self.openedAt)
        result_.events.push_back({index(lane), begin, end});
      self.now = end + whole(cost_.afterNs);
    }
    std::int64_t endOf(std::size_t lane) { return points(lane).back().at; }

    void event(const Step& step, bool waits) {
      const std::int64_t begin = beginAt(step.lane, step.work);
      const bool isWait = waits && step.other != step.lane && canBeSeen(step.other);
      const std::int64_t post = isWait ? threads_[step.other].now : begin;
      endAt(step.lane, begin, post, step.inside);
      if (isWait)
        result_.program.waits.push_back(
            {index(step.lane), index(step.other), begin, endOf(step.lane), post});
    }

    void open(const Step& step) {
      if (!threads_[step.lane].openedAt)
        threads_[step.lane].openedAt = beginAt(step.lane, step.work);
    }
    void close(const Step& step) {
      Thread& self = threads_[step.lane];
      if (!self.openedAt)
        return;
      const std::int64_t begin = *self.openedAt;
      self.openedAt.reset();
      const bool isWait = step.other != step.lane && canBeSeen(step.other);
      const std::int64_t post = isWait ? threads_[step.other].now : begin;
      endAt(step.lane, begin, post, step.inside);
      result_.program.waits.push_back({index(step.lane),
                                       isWait ? index(step.other) : index(step.lane),
                                       begin,
                                       endOf(step.lane),
                                       post});
    }

    void start(const Step& step) {
      if (threads_[step.lane].isThere || !canBeSeen(step.other))
        return;
      const std::int64_t post = threads_[step.other].now;
      threads_[step.lane].isThere = true;
      threads_[step.lane].now = post;
      const std::int64_t begin = beginAt(step.lane, step.work);
      endAt(step.lane, begin, begin, step.inside);
      result_.program.waits.push_back(
          {index(step.lane), index(step.other), Wait::kStart, begin, post});
    }

    // All that can.
    void meet(const Step& step) {
      std::vector<std::size_t> all;
      for (std::size_t lane = 0; lane < threads_.size(); ++lane)
        if (canBeSeen(lane))
          all.push_back(lane);
      if (all.size() < 2)
        return;
      Meeting meeting;
      std::int64_t last = 0;
      for (const std::size_t lane : all) {
        const std::int64_t begin = beginAt(lane, step.work * static_cast<std::int64_t>(lane + 1));
        meeting.arrivals.push_back({index(lane), begin});
        last = std::max(last, begin);
      }
      for (std::size_t at = 0; at < all.size(); ++at) {
        const std::int64_t begin = meeting.arrivals[at].at;
        endAt(all[at], begin, last, step.inside);
        meeting.waiting.push_back({index(all[at]), begin, endOf(all[at])});
      }
      result_.program.meetings.push_back(std::move(meeting));
    }

    EventCost cost_;
    std::vector<Thread> threads_;
    Result result_;
  };

  std::mt19937 random_;
  int lanes_;
  std::vector<Step> script_;
};

TEST(Correct, GivesRandomRunsTheTimesThatTheyHaveWithoutRecording) {
  const EventCost cost{.beforeNs = 4, .insideNs = 3, .afterNs = 9};
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    const RandomRun run(seed, 1 + static_cast<int>(seed % 6), 80);
    const auto recorded = run.run(cost);
    const auto bare = run.run({});
    const auto lanes = correct(recorded.program, {cost, {}});
    ASSERT_EQ(recorded.events.size(), bare.events.size());
    for (std::size_t at = 0; at < bare.events.size(); ++at) {
      const auto [lane, begin, end] = recorded.events[at];
      ASSERT_EQ(lanes[lane](end), bare.events[at].end) << "seed " << seed << ", event " << at;
      // Where a thread waits that did not wait when it was recorded, two times come of one.
      ASSERT_GE(lanes[lane](begin), bare.events[at].begin) << "seed " << seed << ", event " << at;
      ASSERT_LE(lanes[lane](begin), bare.events[at].end);
    }
  }
}

// Whatever is said to cost how much: nothing gets later than it was, and time goes on.
TEST(Correct, KeepsRandomRunsWithinWhatWasRecorded) {
  std::mt19937 random(7);
  const auto some = [&](unsigned most) { return static_cast<double>(random() % most); };
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const auto recorded = RandomRun(seed, 1 + static_cast<int>(seed % 6), 80)
                              .run({.beforeNs = 4, .insideNs = 3, .afterNs = 9});
    const auto lanes =
        correct(recorded.program, {{some(40) - 10, some(40), some(200)}, {some(5), 0, 0}});
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      std::int64_t last = INT64_MIN;
      for (const CostPoint& point : recorded.program.lanes[lane].points) {
        ASSERT_LE(lanes[lane](point.at), point.at) << "seed " << seed;
        ASSERT_GE(lanes[lane](point.at), last) << "seed " << seed;
        ASSERT_GE(lanes[lane](point.at), 0) << "seed " << seed;
        last = lanes[lane](point.at);
      }
    }
  }
}

}  // namespace
}  // namespace sonde::engine::correction
