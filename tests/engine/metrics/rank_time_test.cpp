#include "analysis/engine/metrics/rank_time.h"

#include "analysis/engine/metrics/operations.h"
#include "tests/engine/metrics/rank_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <random>

namespace sonde::engine::metrics {
namespace {

using test::kMs;
using test::must;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(ComputeOf, TakesOutTheWaitForTheLastReductionOfABackward) {
  ThreadActivity thread;
  thread.computing = {{10, 40}, {40, 80}, {92, 98}};
  thread.backwards = {{40, 80}};
  EXPECT_THAT(computeOf(thread, {{60, 70}, {72, 90}}),
              ElementsAre(Interval{10, 72}, Interval{92, 98}));
  // If the reductions end before the backward pass, it computes again.
  EXPECT_THAT(computeOf(thread, {{50, 66}, {60, 63}}),
              ElementsAre(Interval{10, 60}, Interval{66, 80}, Interval{92, 98}));
  EXPECT_THAT(computeOf(thread, {{80, 90}}), ElementsAre(Interval{10, 80}, Interval{92, 98}));
  EXPECT_THAT(computeOf(thread, {}), ElementsAre(Interval{10, 80}, Interval{92, 98}));
}

// Instant by instant: computing, not interrupted, and not in a backward pass after the start of its
// last collective while one of its collectives is still running.
TEST(ComputeOf, AgreesWithAnOracleThatLooksAtEveryInstant) {
  std::mt19937 random(11);
  const auto intervals = [&](int most, int length) {
    Intervals result(
        std::uniform_int_distribution<std::size_t>(0, static_cast<std::size_t>(most))(random));
    for (Interval& interval : result) {
      interval.begin = std::uniform_int_distribution<int>(0, 60)(random);
      interval.end = interval.begin + std::uniform_int_distribution<int>(1, length)(random);
    }
    return result;
  };
  const auto holds = [](const Intervals& all, std::int64_t at) {
    return std::any_of(
        all.begin(), all.end(), [&](const Interval& i) { return i.begin <= at && at < i.end; });
  };
  for (int round = 0; round < 5000; ++round) {
    ThreadActivity thread{intervals(5, 20), intervals(3, 8), intervals(2, 25)};
    thread.computing.insert(
        thread.computing.end(), thread.backwards.begin(), thread.backwards.end());
    Intervals collectives = intervals(5, 12);
    std::sort(
        collectives.begin(), collectives.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
    const Intervals result = computeOf(thread, collectives);
    for (std::int64_t at = 0; at < 100; ++at) {
      bool waiting = false;
      for (const Interval& backward : thread.backwards) {
        std::int64_t last = -1;
        std::int64_t end = -1;
        for (const Interval& collective : collectives)
          if (collective.begin >= backward.begin && collective.begin < backward.end) {
            last = std::max(last, collective.begin);
            end = std::max(end, collective.end);
          }
        waiting = waiting || (last >= 0 && at >= last && at < end && at < backward.end);
      }
      const bool expected =
          holds(thread.computing, at) && !holds(thread.interruptions, at) && !waiting;
      ASSERT_EQ(holds(result, at), expected) << "round " << round << " at " << at;
    }
  }
}

using RankMetrics = test::RankTrace;

TEST_F(RankMetrics, PartsOfAnIterationSumToItAlsoWhenTheyNest) {
  const auto main = process(0, 1);
  const auto step = iteration(main, 0, 100, 200);
  trace_->slice(main, model::SliceKind::DataLoad, "data", {90, 110}, step);  // began before
  const auto backward =
      trace_->slice(main, model::SliceKind::Backward, "backward", {120, 180}, step);
  trace_->slice(main, model::SliceKind::Forward, "recomputed", {130, 150}, backward);
  trace_->slice(main, model::SliceKind::Optimizer, "step", {150, 160}, backward);
  const auto trace = open();
  const auto ranks = must(readRanks(trace));
  ASSERT_THAT(ranks, SizeIs(1));
  const IterationParts parts = must(partsOf(trace, ranks[0], ranks[0].iterations.at(0)));
  EXPECT_EQ(parts.dataLoadNs, 10);
  EXPECT_EQ(parts.forwardNs, 20);
  EXPECT_EQ(parts.optimizerNs, 10);
  EXPECT_EQ(parts.backwardNs, 30);
  EXPECT_EQ(parts.otherNs, 30);
  EXPECT_EQ(
      parts.dataLoadNs + parts.forwardNs + parts.backwardNs + parts.optimizerNs + parts.otherNs,
      parts.durNs);
}

// As in files of other tools: no rows of collectives, but slices.
TEST_F(RankMetrics, SlicesAreCollectivesWhereThereAreNoRowsOfThem) {
  const auto main = process(0, 1);
  const auto step = iteration(main, 0, 100, 200);
  trace_->slice(main, model::SliceKind::Forward, "forward", {100, 150}, step);
  const auto outer =
      trace_->slice(main, model::SliceKind::Collective, "record_param_comms", {140, 170}, step);
  trace_->slice(main, model::SliceKind::Collective, "gloo:all_reduce", {145, 165}, outer);
  const auto trace = open();
  const auto ranks = must(readRanks(trace));
  const RankTime time = must(timeOf(trace, ranks.at(0)));
  EXPECT_EQ(time.collectives, 1);
  EXPECT_EQ(time.commNs, 30);
}

TEST_F(RankMetrics, HelpersAreNoRanksAndOpenIterationsDoNotCount) {
  const auto main = process(0, 1);
  iteration(main, 0, 0, 100);
  iteration(main, 1, 100, {});
  const auto worker = process(0, 2);  // a loader's worker has the environment of its rank
  trace_->slice(worker, model::SliceKind::Operation, "collate", {0, 50});
  const auto trace = open();
  const auto ranks = must(readRanks(trace));
  ASSERT_THAT(ranks, SizeIs(1));
  EXPECT_EQ(ranks[0].name, "rank 0");
  EXPECT_THAT(ranks[0].iterations, SizeIs(1));
  EXPECT_EQ(ranks[0].window, (Interval{0, 100}));
}

// In such a file the steps have another pid than all that happens in them.
TEST_F(RankMetrics, AProcessThatOnlyMarksIterationsStandsForTheOneThatWorks) {
  iteration(process({}, 1), 7, 0, 100);
  const auto worker = process({}, 2);
  trace_->slice(worker, model::SliceKind::Operator, "gemm", {10, 20});
  const auto stream = trace_->add(model::Stream{.processId = process_, .number = 7});
  model::Kernel kernel;
  kernel.work.streamId = stream;
  kernel.work.nameId = trace_->name("gemm");
  kernel.work.startNs = 30;
  kernel.work.durNs = 40;
  trace_->add(kernel);
  const auto trace = open();
  const auto ranks = must(readRanks(trace));
  ASSERT_THAT(ranks, SizeIs(1));
  EXPECT_EQ(ranks[0].processId, process_.value);
  EXPECT_EQ(ranks[0].rank, 0);
  EXPECT_EQ(ranks[0].window, (Interval{0, 100}));
  ASSERT_THAT(ranks[0].iterations, SizeIs(1));
  EXPECT_EQ(ranks[0].iterations[0].number, 7);
}

TEST_F(RankMetrics, AProcessThatDoesSomethingBesidesStandsForItself) {
  const auto main = process({}, 1);
  const auto own = process_;
  trace_->slice(main, model::SliceKind::Operation, "act", {10, 20}, iteration(main, 0, 0, 100));
  process({}, 2);
  const auto stream = trace_->add(model::Stream{.processId = process_, .number = 7});
  model::Kernel kernel;
  kernel.work.streamId = stream;
  kernel.work.nameId = trace_->name("gemm");
  trace_->add(kernel);
  const auto trace = open();
  EXPECT_EQ(must(readRanks(trace)).at(0).processId, own.value);
}

TEST_F(RankMetrics, AProcessWithoutRankOrIterationsIsRank0OverItsSlices) {
  const auto main = process({}, 77);
  trace_->slice(main, model::SliceKind::Operation, "solve", {1000, 3000});
  const auto trace = open();
  const auto ranks = must(readRanks(trace));
  ASSERT_THAT(ranks, SizeIs(1));
  EXPECT_EQ(ranks[0].rank, 0);
  EXPECT_EQ(ranks[0].window, (Interval{1000, 3000}));
  EXPECT_FALSE(medianIteration(ranks[0]));
}

TEST_F(RankMetrics, AnOperationInsideItselfCountsOnce) {
  const auto main = process(0, 1);
  const auto step = iteration(main, 0, 0, 100);
  const auto outer = trace_->slice(main, model::SliceKind::Operation, "solve", {10, 50}, step);
  trace_->slice(main, model::SliceKind::Operation, "solve", {20, 30}, outer);
  const auto trace = open();
  const auto operations = must(operationsOf(trace, must(readRanks(trace)).at(0)));
  ASSERT_THAT(operations, SizeIs(1));
  EXPECT_EQ(operations[0].count, 2);
  EXPECT_EQ(operations[0].ns, 40);
  EXPECT_DOUBLE_EQ(operations[0].share, 0.4);
  EXPECT_EQ(operations[0].p50Ns, 10);
  EXPECT_EQ(operations[0].p95Ns, 40);
}

TEST_F(RankMetrics, OperationsBesideTheIterationsHaveNoShare) {
  const auto main = process(0, 1);
  trace_->slice(main, model::SliceKind::Operation, "solve", {10, 90});
  iteration(main, 0, 100, 200);
  trace_->slice(main, model::SliceKind::Operation, "solve", {110, 140});
  trace_->slice(main, model::SliceKind::Operation, "solve", {210, 220});
  const auto trace = open();
  const auto operations = must(operationsOf(trace, must(readRanks(trace)).at(0)));
  ASSERT_THAT(operations, SizeIs(1));
  EXPECT_EQ(operations[0].count, 1);
  EXPECT_EQ(operations[0].p50Ns, 30);
  EXPECT_DOUBLE_EQ(operations[0].share, 0.3);
}

// Kernels 10-40 and 30-60, one of a collective 50-90, a copy 85-100, another process's kernel.
TEST_F(RankMetrics, CountsWhatDevicesDidWhereThereAreAny) {
  process(1, 200);
  model::Device device;
  device.hostId = host_;
  device.kind = "gpu";
  device.ordinal = 3;
  const auto deviceId = trace_->add(device);
  const auto streamOf = [&](std::int64_t number) {
    model::Stream stream;
    stream.processId = process_;
    stream.deviceId = deviceId;
    stream.number = number;
    return trace_->add(stream);
  };
  const auto work = [&](model::StreamId stream, std::int64_t begin, std::int64_t end) {
    model::DeviceWork row;
    row.streamId = stream;
    row.nameId = trace_->name("work");
    row.startNs = begin;
    row.durNs = end - begin;
    return row;
  };
  model::Kernel kernel;
  kernel.work = work(streamOf(9), 0, 100);
  trace_->add(kernel);
  const model::ThreadId thread = process(0, 100);
  iteration(thread, 0, 0, 120);
  const model::StreamId stream = streamOf(7);
  for (const auto& [begin, end] : {std::pair(10, 40), std::pair(30, 60)}) {
    kernel.work = work(stream, begin, end);
    trace_->add(kernel);
  }
  kernel.work = work(stream, 50, 90);
  model::Collective collective;
  collective.processId = process_;
  collective.kernelId = trace_->add(kernel);
  collective.startNs = 50;
  collective.durNs = 40;
  trace_->add(collective);
  model::Copy copy;
  copy.work = work(stream, 85, 100);
  trace_->add(copy);
  const store::Database trace = open();
  const auto ranks = must(readRanks(trace));
  ASSERT_FALSE(ranks.empty());
  ASSERT_EQ(ranks[0].rank, 0);
  const RankTime time = must(timeOf(trace, ranks[0]));
  EXPECT_EQ(time.device, "gpu 3");
  EXPECT_TRUE(time.computeKnown);
  EXPECT_EQ(time.computeNs, 50);
  EXPECT_EQ(time.copyNs, 15);
  EXPECT_EQ(time.commNs, 40);
  EXPECT_EQ(time.hiddenNs, 10);
  EXPECT_EQ(time.exposedNs, 30);
  EXPECT_EQ(time.idleNs, 30);
}

}  // namespace
}  // namespace sonde::engine::metrics
