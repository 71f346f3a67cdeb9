// Stalls of iterations, compared with a count of each instant.
#include "analysis/engine/metrics/stalls.h"

#include "analysis/engine/metrics/file_calls.h"
#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <random>

namespace sonde::engine::metrics {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Whether one of the intervals, in any order and possibly overlapping, contains `ns`.
bool holdAnywhere(const Intervals& intervals, std::int64_t ns) {
  return std::any_of(intervals.begin(), intervals.end(), [ns](const Interval& each) {
    return each.begin <= ns && ns < each.end;
  });
}

Intervals randomIntervals(std::mt19937& random, std::size_t count, std::int64_t last) {
  Intervals intervals;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = static_cast<std::int64_t>(random()) % last;
    intervals.push_back({begin, begin + static_cast<std::int64_t>(random() % 12)});
  }
  return intervals;
}

TEST(Stalls, AreCountedInstantByInstant) {
  std::mt19937 random(1);
  constexpr std::int64_t kStep = 40;
  for (int round = 0; round < 200; ++round) {
    StallRecord record;
    for (Intervals& cause : record.causes)
      cause = randomIntervals(random, random() % 8, 5 * kStep + 20);
    record.waits = randomIntervals(random, random() % 8, 5 * kStep);
    record.waitsKnown = true;
    const Intervals busy = normalise(randomIntervals(random, random() % 8, 5 * kStep));
    std::vector<IterationTime> iterations;
    for (std::int64_t number = 0; number < 5; ++number)
      iterations.push_back({number, number * kStep + 10, kStep, 1});
    const RankStalls stalls = accountForStalls(record, iterations, busy);
    EXPECT_EQ(stalls.iterationsNs, 5 * kStep);
    EXPECT_EQ(stalls.thresholdNs, 2);
    struct Sum {
      std::int64_t ns = 0;
      std::int64_t waits = 0;
      std::int64_t files = 0;
      std::int64_t idle = 0;
    };
    std::map<std::size_t, Sum> sums;
    for (std::int64_t ns = 10; ns < 5 * kStep + 10; ++ns)
      for (std::size_t cause = 0; cause < kStallCauses; ++cause) {
        if (!holdAnywhere(record.causes[cause], ns))
          continue;
        Sum& sum = sums[cause];
        ++sum.ns;
        sum.waits += holdAnywhere(record.waits, ns) ? 1 : 0;
        sum.files += holdAnywhere(record.causes[2], ns) ? 1 : 0;
        sum.idle += holdAnywhere(busy, ns) ? 0 : 1;
        break;
      }
    ASSERT_EQ(stalls.causes.size(), sums.size());
    for (const StallTime& time : stalls.causes) {
      const Sum& sum = sums[static_cast<std::size_t>(time.cause)];
      ASSERT_EQ(time.ns, sum.ns);
      ASSERT_EQ(time.waitNs, sum.waits);
      ASSERT_EQ(time.fileNs, sum.files);
      ASSERT_EQ(time.deviceIdleNs, sum.idle);
      ASSERT_GE(time.count, time.above);
      ASSERT_GE(time.above, time.iterations);
    }
  }
}

TEST(Stalls, AreStretchesAboveAThreshold) {
  std::vector<IterationTime> iterations;
  StallRecord record;
  for (std::int64_t number = 0; number < 40; ++number) {
    iterations.push_back({number, number * 1000, 1000, 1});
    // Two of 30 and one of 60; the last ten have 200 more.
    for (const auto& [from, length] : {std::pair(0, 30), std::pair(100, 30), std::pair(300, 60)})
      record.causes[0].push_back({number * 1000 + from, number * 1000 + from + length});
    if (number >= 30)
      record.causes[0].push_back({number * 1000 + 500, number * 1000 + 700});
  }
  const RankStalls stalls = accountForStalls(record, iterations, {});
  ASSERT_THAT(stalls.causes, SizeIs(1));
  const StallTime& time = stalls.causes[0];
  EXPECT_EQ(stalls.thresholdNs, 50);
  EXPECT_EQ(time.count, 3 * 40 + 10);
  EXPECT_EQ(time.above, 40 + 10);
  EXPECT_EQ(time.iterations, 40);
  EXPECT_EQ(time.ns, 40 * 120 + 10 * 200);
  EXPECT_EQ(time.p50Ns, 30);
  EXPECT_EQ(time.p95Ns, 200);
  EXPECT_EQ(time.maxNs, 200);
  EXPECT_DOUBLE_EQ(time.share, 6800.0 / 40'000);
  EXPECT_EQ(time.waitNs, std::nullopt);
  EXPECT_EQ(time.deviceIdleNs, std::nullopt);
  ASSERT_THAT(time.worst, SizeIs(5));
  EXPECT_EQ(time.worst[0].number, 30);
  EXPECT_EQ(time.worst[0].ns, 320);
  EXPECT_EQ(time.firstHalfNs, 120);
  EXPECT_EQ(time.secondHalfNs, 220);
}

TEST(AccountForStalls, OfASingleIterationThereAreNoHalves) {
  StallRecord record;
  record.causes[0].push_back({100, 300});
  const RankStalls stalls = accountForStalls(record, {{0, 0, 1000, 1}}, {});
  ASSERT_THAT(stalls.causes, SizeIs(1));
  EXPECT_EQ(stalls.causes[0].ns, 200);
  EXPECT_EQ(stalls.causes[0].trend, Trend::Unknown);
  EXPECT_EQ(stalls.causes[0].firstHalfNs, std::nullopt);
  EXPECT_EQ(stalls.causes[0].secondHalfNs, std::nullopt);
}

TEST(StallTrend, IsSaidWhereItIsShown) {
  std::mt19937 random(4);
  std::normal_distribution<double> noise(100, 10);
  const auto series = [&](std::size_t count, double more) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(noise(random) + (i >= count / 2 ? more : 0));
    return values;
  };
  EXPECT_EQ(trendOf(series(29, 100), 1), Trend::Unknown);
  EXPECT_EQ(trendOf(series(60, 100), 1), Trend::Grows);
  EXPECT_EQ(trendOf(series(60, -50), 1), Trend::Shrinks);
  EXPECT_EQ(trendOf(series(60, 100), 1000), Trend::Steady);
  int alarms = 0;
  for (int round = 0; round < 500; ++round)
    alarms += trendOf(series(60, 0), 0) != Trend::Steady ? 1 : 0;
  EXPECT_LE(alarms, 10);
}

class StallTrace : public test::DeviceTrace {
 protected:
  void io(const Rank& rank,
          model::ThreadId thread,
          Span time,
          std::int64_t bytes,
          model::OptionalInt disk,
          model::SliceId in = {}) {
    (void)rank;
    const auto slice = trace_->slice(thread, model::SliceKind::Io, "read", time, in, "io");
    trace_->add(model::FileAccess{.sliceId = slice, .bytes = bytes, .diskBytes = disk});
  }
};

TEST_F(StallTrace, CountsTheThreadOfTheIterationsAlone) {
  const Rank one = rank(0);
  const auto other = trace_->add(model::Thread{.processId = one.process, .tid = 5});
  step(one, 0, {0, 1000});
  const auto load = trace_->slice(one.thread, model::SliceKind::DataLoad, "data_load", {100, 300});
  io(one, one.thread, {150, 200}, 10, 0, load);
  trace_->slice(one.thread, model::SliceKind::Wait, "poll", {200, 290}, load);
  const auto save = trace_->slice(one.thread, model::SliceKind::Checkpoint, "save", {400, 500});
  io(one, one.thread, {410, 490}, 10, {}, save);
  io(one, one.thread, {600, 620}, 10, 10);
  io(one, other, {700, 900}, 10, 10);
  trace_->slice(other, model::SliceKind::DataLoad, "data_load", {700, 900});
  trace_->slice(one.thread, model::SliceKind::Operation, "enumerate(DataLoader)#x", {920, 930});
  const store::Database trace = open();
  const auto ranks = test::must(readRanks(trace));
  const RankStalls stalls = test::must(stallsOf(trace, ranks[0], Intervals{{0, 150}}));
  ASSERT_THAT(stalls.causes, SizeIs(3));
  EXPECT_EQ(stalls.causes[0].ns, 210);
  EXPECT_EQ(stalls.causes[0].waitNs, 90);
  EXPECT_EQ(stalls.causes[0].fileNs, 50);
  EXPECT_EQ(stalls.causes[0].deviceIdleNs, 160);
  EXPECT_EQ(stalls.causes[1].cause, StallCause::Checkpoint);
  EXPECT_EQ(stalls.causes[1].ns, 100);
  EXPECT_EQ(stalls.causes[1].fileNs, 80);
  EXPECT_EQ(stalls.causes[2].cause, StallCause::File);
  EXPECT_EQ(stalls.causes[2].ns, 20);
}

TEST_F(StallTrace, FilesThatIterationsReadOfWhichLessWasRecordedDoNotCount) {
  const Rank one = rank(0);
  const std::int64_t masks[] = {5, 1, 5, 5};  // the third is the first one after a switch
  for (std::int64_t number = 0; number < 4; ++number) {
    trace_->add(model::Iteration{.processId = one.process,
                                 .number = number,
                                 .startNs = number * 1000,
                                 .durNs = 1000,
                                 .probeMask = masks[number]});
    io(one, one.thread, {number * 1000 + 100, number * 1000 + 150}, 10, 0);
  }
  const store::Database trace = open();
  const auto rows = test::must(fileCallsOf(trace, test::must(readRanks(trace))));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].calls, 2);
}

TEST_F(StallTrace, FilesAreByWhoReadThem) {
  const Rank one = rank(0);
  const auto other = trace_->add(model::Thread{.processId = one.process, .tid = 5});
  const auto worker =
      trace_->add(model::Process{.hostId = host_, .pid = 900, .parentId = one.process, .rank = 0});
  const auto its = trace_->add(model::Thread{.processId = worker, .tid = 900});
  step(one, 0, {0, 1'000'000});
  io(one, one.thread, {100, 200}, 10, 0);
  io(one, one.thread, {300, 500}, 10, 0);
  io(one, other, {100, 90'000}, 10, 0);
  io(one, its, {100, 350}, 10, 4096);
  io(one, its, {2'000'000, 2'000'400}, 10, 4096);  // after the window
  const store::Database trace = open();
  const auto rows = test::must(fileCallsOf(trace, test::must(readRanks(trace))));
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[0].by, "threads");
  EXPECT_EQ(rows[0].servedBy, "waited");
  EXPECT_EQ(rows[1].by, "iterations");
  EXPECT_EQ(rows[1].servedBy, "page cache");
  EXPECT_EQ(rows[1].calls, 2);
  EXPECT_EQ(rows[1].ns, 300);
  EXPECT_EQ(rows[1].bytes, 20);
  EXPECT_EQ(rows[2].by, "helpers");
  EXPECT_EQ(rows[2].servedBy, "disk");
  EXPECT_EQ(rows[2].calls, 1);
  EXPECT_EQ(rows[2].diskBytes, 4096);
}

TEST_F(StallTrace, WithoutIterationsThereAreNone) {
  const Rank one = rank(0);
  trace_->slice(one.thread, model::SliceKind::DataLoad, "data_load", {100, 300});
  const store::Database trace = open();
  const auto ranks = test::must(readRanks(trace));
  EXPECT_THAT(test::must(stallsOf(trace, ranks[0], {})).causes, IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::metrics
