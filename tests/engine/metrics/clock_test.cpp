#include "analysis/engine/metrics/clock.h"

#include "analysis/engine/metrics/operations.h"
#include "analysis/engine/metrics/rank_time.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

namespace sonde::engine::metrics {
namespace {

using model::SliceKind;
using test::must;
using ::testing::SizeIs;

TEST(CorrectedNs, IsAsRecordedWhereNothingIsKnown) {
  EXPECT_EQ(withInterval({100}), (CorrectedNs{100, 100, 100, 100}));
  EXPECT_EQ(standardError({100}), 0);
}

TEST(CorrectedNs, HasTheCausesOfItsErrorAsOneVariance) {
  EXPECT_EQ(withInterval({100, 90}), (CorrectedNs{90, 100, 90, 90}));
  EXPECT_DOUBLE_EQ(standardError({100, 90, 87, 93, 94, 86}), 5);
  EXPECT_EQ(withInterval({1000, 900, 870, 930, 940, 860}), (CorrectedNs{900, 1000, 802, 998}));
  EXPECT_EQ(withInterval({100, 10, 90, 0}).lowNs, 0) << "no time is less than nothing";
}

// A process whose iterations of 1000 ns each have a forward pass of 100, including 30 of recording.
class ClockTest : public ::testing::Test {
 protected:
  void make(double errorNs, const std::vector<int>& masked = {}) {
    test::TraceBuilder trace(path_);
    process_ = trace.add(
        model::Process{.hostId = trace.add(model::Host{.name = "h", .bootId = "b"}), .pid = 7});
    const auto main = trace.add(model::Thread{.processId = process_, .tid = 7});
    trace.add(model::Overhead{.probe = "torch",
                              .api = "scope",
                              .meanNs = 30,
                              .errorNs = errorNs,
                              .method = "micro-loop",
                              .beforeNs = 0,
                              .insideNs = 30});
    for (int number = 0; number < 4; ++number) {
      const std::int64_t begin = number * 1000;
      const bool isMasked = std::find(masked.begin(), masked.end(), number) != masked.end();
      trace.add(model::Iteration{.processId = process_,
                                 .number = number,
                                 .startNs = begin,
                                 .durNs = 1000,
                                 .probeMask = isMasked ? 1 : 5});
      trace.slice(main, SliceKind::Forward, "forward", {begin + 200, begin + 300});
    }
    trace.finish();
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  model::ProcessId process_;
};

TEST_F(ClockTest, TimesAreByTheClockThatIsAskedFor) {
  make(3);
  const auto trace = must(store::openTrace(path_));
  const Clocks clocks = must(Clocks::read(trace, nullptr));
  const std::vector<Clock> all = clocks.all();
  ASSERT_THAT(all, SizeIs(4)) << "as recorded, corrected, and with the cause of error either way";
  const RankProcess rank = must(readRanks(trace)).at(0);
  const std::int64_t iterations[] = {1000, 970, 967, 973};
  const std::int64_t forward[] = {100, 70, 67, 73};
  for (std::size_t at = 0; at < all.size(); ++at) {
    const RankProcess told = byClock(rank, all[at]);
    for (const IterationTime& iteration : told.iterations)
      EXPECT_EQ(iteration.durNs, iterations[at]);
    const auto operations = must(operationsOf(trace, rank, all[at]));
    ASSERT_THAT(operations, SizeIs(1));
    EXPECT_EQ(operations[0].count, 4);
    EXPECT_EQ(operations[0].p50Ns, forward[at]);
    EXPECT_EQ(operations[0].ns, 4 * forward[at]);
    const RankTime time = timeIn(must(readRankActivity(trace, rank, all[at])), told.window);
    EXPECT_EQ(time.windowNs, 4 * iterations[at]);
    EXPECT_EQ(time.computeNs, 4 * forward[at]);
    EXPECT_EQ(time.idleNs, time.windowNs - time.computeNs);
    const IterationParts parts = must(partsOf(trace, rank, rank.iterations[1], all[at]));
    EXPECT_EQ(parts.durNs, iterations[at]);
    EXPECT_EQ(parts.forwardNs, forward[at]);
    EXPECT_EQ(parts.otherNs, iterations[at] - forward[at]);
  }
}

TEST_F(ClockTest, CostsFromElsewhereCountBeforeThoseOfTheTrace) {
  make(3);
  const auto trace = must(store::openTrace(path_));
  const correction::CostSet measured{
      {{"torch", "scope", std::nullopt, {0, 50, 0}, 0, "separate runs"}}, {}, {}};
  const Clocks clocks = must(Clocks::read(trace, &measured));
  const RankProcess rank = byClock(must(readRanks(trace)).at(0), clocks.all()[1]);
  EXPECT_EQ(rank.iterations[0].durNs, 950);
}

TEST_F(ClockTest, MaskedIterationsAndWhatIsInThemDoNotCount) {
  make(0, {1});  // 2 is the first after a switch
  const auto trace = must(store::openTrace(path_));
  const RankProcess rank = must(readRanks(trace)).at(0);
  ASSERT_THAT(rank.iterations, SizeIs(2));
  EXPECT_EQ(rank.iterations[1].number, 3);
  EXPECT_EQ(rank.maskedCount, 2);
  EXPECT_EQ(rank.window, (Interval{0, 4000}));
  const RankTime time = must(timeOf(trace, rank));
  EXPECT_EQ(time.windowNs, 2000);
  EXPECT_EQ(time.computeNs, 200);
  EXPECT_EQ(time.idleNs, 1800);
  const auto operations = must(operationsOf(trace, rank));
  ASSERT_THAT(operations, SizeIs(1));
  EXPECT_EQ(operations[0].count, 2);
  EXPECT_EQ(operations[0].ns, 200);
  EXPECT_DOUBLE_EQ(operations[0].share, 0.1);
}

TEST(IntervalOf, RefusesWhatIsNoTime) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(must(intervalOf(10, 5)), (Interval{10, 15}));
  EXPECT_EQ(must(intervalOf(10, -5)), (Interval{10, 10}));
  EXPECT_FALSE(intervalOf(kMax - 1, 5));
  EXPECT_FALSE(intervalOf(kMax / 2 + 1, 0));
  EXPECT_FALSE(intervalOf(0, kMax));
  EXPECT_FALSE(intervalOf(-kMax, kMax));
}

TEST(Holds, IsTrueOfWhatLiesInOneOfThem) {
  std::mt19937 random(3);
  for (int round = 0; round < 2'000; ++round) {
    Intervals some;
    for (auto each = random() % 5; each > 0; --each) {
      const auto begin = static_cast<std::int64_t>(random() % 50);
      some.push_back({begin, begin + static_cast<std::int64_t>(random() % 10)});
    }
    const Intervals normal = normalise(some);
    for (std::int64_t at = 0; at < 60; ++at) {
      const bool expected = std::any_of(normal.begin(), normal.end(), [at](const Interval& each) {
        return each.begin <= at && at < each.end;
      });
      ASSERT_EQ(holds(normal, at), expected);
    }
  }
}

}  // namespace
}  // namespace sonde::engine::metrics
