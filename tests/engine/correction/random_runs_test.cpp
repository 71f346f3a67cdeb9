// Programs run with and without recording: correcting the first must give the second.
#include "analysis/engine/correction/correct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
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

// A synthetic run: threads work, record, start others, meet, and wait for each other, also inside
// waits. Its times without recording are known, since it also runs without.
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
    std::vector<Event> events;  // in an order that both runs share, without those inside waits
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
    // The first half exists from the start, so that there is time to subtract the first costs from;
    // the rest is started.
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
      std::optional<std::int64_t> openedAt;  // the wait around it
    };

    static std::int64_t whole(double ns) { return static_cast<std::int64_t>(ns); }
    std::vector<CostPoint>& points(std::size_t lane) { return result_.program.lanes[lane].points; }
    static LaneIndex index(std::size_t lane) { return static_cast<LaneIndex>(lane); }
    // Whether others can see its actions: order inside waits is unknown.
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

    // All lanes that can.
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
      // If a thread waits that did not wait when recorded, one time becomes two.
      ASSERT_GE(lanes[lane](begin), bare.events[at].begin) << "seed " << seed << ", event " << at;
      ASSERT_LE(lanes[lane](begin), bare.events[at].end);
    }
  }
}

// For any stated costs: nothing becomes later than recorded, and time never runs backwards.
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
