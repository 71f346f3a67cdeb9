#include "analysis/engine/metrics/rank_time.h"

#include "analysis/engine/metrics/operations.h"
#include "analysis/engine/metrics/traffic.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

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
  // When the reductions end before the backward does, it computes again.
  EXPECT_THAT(computeOf(thread, {{50, 66}, {60, 63}}),
              ElementsAre(Interval{10, 60}, Interval{66, 80}, Interval{92, 98}));
  EXPECT_THAT(computeOf(thread, {{80, 90}}), ElementsAre(Interval{10, 80}, Interval{92, 98}));
  EXPECT_THAT(computeOf(thread, {}), ElementsAre(Interval{10, 80}, Interval{92, 98}));
}

// Instant by instant: computing, not interrupted, and not in a backward behind the start of its
// last collective while any of its collectives is still to end.
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

class RankMetrics : public ::testing::Test {
 protected:
  store::Database open() {
    trace_->finish();
    return must(store::openTrace(folder_ / "t.sonde"));
  }
  model::ThreadId process(std::optional<std::int64_t> rank, std::int64_t pid) {
    if (!host_)
      host_ = trace_->add(model::Host{{}, "h", {}, {}, {}, {}, {}});
    model::Process row;
    row.hostId = host_;
    row.rank = rank;
    row.pid = pid;
    model::Thread thread;
    thread.processId = process_ = trace_->add(row);
    thread.tid = pid;
    return trace_->add(thread);
  }
  model::SliceId iteration(model::ThreadId thread,
                           std::int64_t number,
                           std::int64_t begin,
                           std::optional<std::int64_t> end) {
    const auto slice = trace_->slice(
        thread, model::SliceKind::Iteration, "iteration", {begin, end.value_or(begin)});
    trace_->add(model::Iteration{.processId = process_,
                                 .number = number,
                                 .startNs = begin,
                                 .durNs = end ? model::OptionalInt(*end - begin) : std::nullopt,
                                 .sliceId = slice});
    return slice;
  }
  model::ChannelId channel(model::ChannelKind kind, const char* local, const char* remote) {
    return trace_->add(
        model::Channel{.processId = process_, .kind = kind, .local = local, .remote = remote});
  }
  void move(model::ChannelId id,
            model::Direction direction,
            std::int64_t offset,
            std::int64_t bytes) {
    trace_->add(
        model::Transfer{.channelId = id, .direction = direction, .offset = offset, .bytes = bytes});
  }
  // With the channel that `peer`, an SQL expression, names as the other end of each.
  store::Database opened(const std::string& peer) {
    must(trace_->writer().commit());
    must(trace_->writer().begin());
    must(trace_->writer().database().exec("UPDATE channel SET peer_channel_id = " + peer));
    return open();
  }
  Conservation conservation(const std::string& peer) {
    const auto trace = opened(peer);
    return must(conservationOf(trace));
  }

  test::TemporaryFolder folder_;
  std::optional<test::TraceBuilder> trace_{std::in_place, folder_ / "t.sonde"};
  model::HostId host_;
  model::ProcessId process_;
};

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

// As in files of other tools: no row of a collective, but slices.
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

// The steps of such a file have another pid than all that happens in them.
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

TEST_F(RankMetrics, ConservationFindsBytesThatNeverArrived) {
  process(0, 1);
  const auto a = channel(model::ChannelKind::Tcp, "1:1", "2:2");
  const auto b = channel(model::ChannelKind::Tcp, "2:2", "1:1");
  move(a, model::Direction::Send, 0, 100);
  move(a, model::Direction::Send, 100, 50);
  move(b, model::Direction::Receive, 0, 30);  // short reads
  move(b, model::Direction::Receive, 30, 110);
  move(b, model::Direction::Send, 0, 5);
  move(a, model::Direction::Receive, 0, 5);
  const Conservation sum = conservation("3 - id");
  EXPECT_EQ(sum.pairs, 1);
  EXPECT_EQ(sum.exactPairs, 1);
  EXPECT_EQ(sum.agreeingPairs, 0);
  EXPECT_EQ(sum.sentBytes, 155);
  EXPECT_EQ(sum.missingBytes, 10);
  EXPECT_EQ(sum.unsentBytes, 0);
}

TEST_F(RankMetrics, ConservationOfATrimmedTraceLeavesOutWhatOneEndLost) {
  process(0, 1);
  const auto a = channel(model::ChannelKind::Tcp, "1:1", "2:2");
  const auto b = channel(model::ChannelKind::Tcp, "2:2", "1:1");
  for (const std::int64_t offset : {100, 200, 300, 400, 600})
    move(a, model::Direction::Send, offset, 100);
  for (const std::int64_t offset : {250, 300, 450, 500})
    move(b, model::Direction::Receive, offset, 50);
  move(b, model::Direction::Send, 70, 5);  // of which the other end has nothing
  trace_->meta("trimmed", "iterations 3-4");
  const Conservation sum = conservation("3 - id");
  EXPECT_EQ(sum.pairs, 1);
  EXPECT_EQ(sum.agreeingPairs, 0);
  EXPECT_EQ(sum.missingBytes, 100);  // 350-450; what is before 250 and behind 550 was cut away
  EXPECT_EQ(sum.unsentBytes, 50);    // 500-550
}

TEST_F(RankMetrics, ConservationCountsWhatMovedNothingAndLeavesOutWhatIsInexact) {
  process(0, 1);
  channel(model::ChannelKind::Tcp, "1:1", "2:2");
  channel(model::ChannelKind::Tcp, "2:2", "1:1");
  const auto c = channel(model::ChannelKind::Tcp, "1:3", "2:4");
  channel(model::ChannelKind::Tcp, "2:4", "1:3");
  model::Transfer row;
  row.channelId = c;
  row.direction = model::Direction::Send;
  row.bytes = 10;
  row.exact = false;
  trace_->add(row);
  const Conservation sum = conservation("CASE WHEN id < 3 THEN 3 - id ELSE 7 - id END");
  EXPECT_EQ(sum.pairs, 2);
  EXPECT_EQ(sum.exactPairs, 1);
  EXPECT_EQ(sum.agreeingPairs, 1);
  EXPECT_EQ(sum.sentBytes, 0);
}

// The queue of a job with four writers: each of them names the reader, the reader only the first.
TEST_F(RankMetrics, TrafficOfASharedPipeIsWithAllThatMovedBytes) {
  iteration(process(0, 1), 0, 0, 100);
  const auto reader = channel(model::ChannelKind::Pipe, "pipe:15:7:r", "pipe:15:7:w");
  channel(model::ChannelKind::Pipe, "pipe:15:7:w", "pipe:15:7:r");  // its own, unused
  const auto other = channel(model::ChannelKind::Tcp, "1:1", "2:2");
  for (const std::int64_t writer : {0, 1, 2, 3}) {
    process(0, 10 + writer);
    const auto id = channel(model::ChannelKind::Pipe, "pipe:15:7:w", "pipe:15:7:r");
    move(id, model::Direction::Send, writer * 100, 100);
  }
  move(reader, model::Direction::Receive, 0, 250);
  move(reader, model::Direction::Receive, 250, 150);
  process({}, 77);
  const auto server = channel(model::ChannelKind::Tcp, "2:2", "1:1");
  move(other, model::Direction::Send, 0, 30);
  const auto trace = opened(
      "CASE id WHEN 3 THEN 8 WHEN 8 THEN 3 WHEN 2 THEN NULL WHEN 1 THEN 4 "
      "ELSE 1 END");
  EXPECT_EQ(server.value, 8);
  const auto traffic = must(trafficOf(trace, must(readRanks(trace))));
  ASSERT_THAT(traffic, SizeIs(2));
  EXPECT_EQ(traffic[0].rank, 0);
  EXPECT_EQ(traffic[0].process, "rank 0");
  EXPECT_EQ(traffic[0].peer, "4 processes");
  EXPECT_EQ(traffic[0].receivedBytes, 400);
  EXPECT_EQ(traffic[0].sentBytes, 0);
  EXPECT_EQ(traffic[0].transfers, 2);
  EXPECT_EQ(traffic[0].channels, 1);
  EXPECT_EQ(traffic[1].peer, "process 77");
  EXPECT_EQ(traffic[1].sentBytes, 30);
}

TEST_F(RankMetrics, ConservationTakesTheWritersOfAPipeTogether) {
  process(0, 1);
  const auto first = channel(model::ChannelKind::Pipe, "pipe:15:7:w", "pipe:15:7:r");
  const auto second = channel(model::ChannelKind::Pipe, "pipe:15:7:w", "pipe:15:7:r");
  const auto reader = channel(model::ChannelKind::Pipe, "pipe:15:7:r", "pipe:15:7:w");
  move(first, model::Direction::Send, 0, 10);
  move(second, model::Direction::Send, 10, 20);
  move(reader, model::Direction::Receive, 0, 30);
  const Conservation sum = conservation("CASE id WHEN 3 THEN 1 ELSE 3 END");
  EXPECT_EQ(sum.pairs, 1);
  EXPECT_EQ(sum.agreeingPairs, 1);
  EXPECT_EQ(sum.sentBytes, 30);
}

TEST_F(RankMetrics, NothingIsMissingOfConnectionsWhoseProbeWasOffForAWhile) {
  process(0, 1);
  const auto sender = channel(model::ChannelKind::Tcp, "a", "b");
  channel(model::ChannelKind::Tcp, "b", "a");
  move(sender, model::Direction::Send, 0, 10);
  EXPECT_EQ(conservation("3 - id").missingBytes, 10);
  auto trace = must(store::Database::open(folder_ / "t.sonde", store::Access::ReadWrite));
  must(
      trace.exec("INSERT INTO thread(process_id, tid) VALUES(1, 9); INSERT "
                 "INTO probe_call(thread_id, probe, api, recorded, "
                 "unrecorded) VALUES(1, 'net', '', 0, 7)"));
  const Conservation sum = must(conservationOf(trace));
  EXPECT_EQ(sum.pairs, 1);
  EXPECT_EQ(sum.exactPairs, 0);
  EXPECT_EQ(sum.missingBytes, 0);
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
  const store::Database trace = opened("NULL");
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
