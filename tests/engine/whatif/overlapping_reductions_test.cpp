// Batches of a job on processors whose reductions overlap and take processors from its main thread.
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/whatif/answer.h"
#include "analysis/engine/whatif/compute/accumulation.h"
#include "analysis/engine/whatif/compute/batch_size.h"
#include "analysis/engine/whatif/network/network.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sonde::engine::whatif {
namespace {

using model::SliceKind;
using test::kMs;
using test::must;

constexpr int kIterations = 6;

// Two ranks. In every iteration of 100 ms:
//
//   ms      0       20    30    50          88 90 92   98 100
//   main    |forward|backward-------------------|  |opt|
//   gloo 1                |allreduce, 8 MB---|
//   gloo 2                      |allreduce, 2 MB|
//
// Both reductions are under way for 60 ms together, so the first takes 48 of them, the second 12.
class OverlappingReductions : public ::testing::Test {
 public:
  // `queuedNs`: for which the main thread waits for a processor, in an iteration.
  void write(std::int64_t queuedNs, bool isTcp = false) {
    path_ = folder_ / ("job" + std::to_string(queuedNs) + (isTcp ? "-tcp.sonde" : ".sonde"));
    test::TraceBuilder trace(path_);
    const auto host = trace.add(model::Host{.name = "host-a", .bootId = "boot-a", .cpuCount = 1});
    for (std::int64_t rank = 0; rank < 2; ++rank)
      writeRank(trace, host, rank, queuedNs, isTcp);
    trace.finish();
  }
  Answer ask(const Question& question) const {
    const auto trace = must(store::openTrace(path_));
    return must(answer(trace, must(graph::readGraph(trace)), {question}));
  }
  double predictedNs(const Question& question) const { return ask(question).predictedNs / kMs; }

 private:
  static void writeRank(test::TraceBuilder& trace,
                        model::HostId host,
                        std::int64_t rank,
                        std::int64_t queuedNs,
                        bool isTcp) {
    const auto process =
        trace.add(model::Process{.hostId = host, .pid = 100 + rank, .rank = rank, .worldSize = 2});
    if (isTcp)
      trace.add(model::Channel{.processId = process, .kind = model::ChannelKind::Tcp});
    const auto thread = [&](std::int64_t tid, const char* name) {
      return trace.add(
          model::Thread{.processId = process, .tid = 100 + 10 * rank + tid, .name = name});
    };
    const auto main = thread(0, "python3");
    const model::ThreadId gloo[] = {thread(1, "gloo"), thread(2, "gloo")};
    const auto communicator = trace.add(model::Communicator{
        .processId = process, .jobKey = "group-0", .size = 2, .position = rank, .backend = "gloo"});
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      const std::int64_t begin = 1000 * kMs + iteration * 100 * kMs;
      const auto step =
          trace.slice(main, SliceKind::Iteration, "iteration", {begin, begin + 100 * kMs});
      const auto part = [&](SliceKind kind, const char* name, int from, int to) {
        trace.slice(main, kind, name, {begin + from * kMs, begin + to * kMs}, step);
      };
      part(SliceKind::Forward, "forward", 0, 20);
      part(SliceKind::Backward, "backward", 20, 90);
      part(SliceKind::Optimizer, "SGD.step", 92, 98);
      trace.add(model::Iteration{.processId = process,
                                 .number = iteration,
                                 .startNs = begin,
                                 .durNs = 100 * kMs,
                                 .sliceId = step});
      const auto reduce = [&](int of, std::int64_t bytes, int from, int to) {
        model::Collective row;
        row.processId = process;
        row.communicatorId = communicator;
        row.seq = 2 * iteration + of;
        row.bytes = bytes;
        row.startNs = begin + from * kMs;
        row.durNs = (to - from) * kMs;
        row.sliceId = trace.slice(
            gloo[of], SliceKind::Collective, "gloo:all_reduce", {row.startNs, begin + to * kMs});
        trace.add(row);
      };
      reduce(0, 8'000'000, 30, 88);
      reduce(1, 2'000'000, 50, 90);
    }
    if (queuedNs == 0)
      return;
    const auto count = [&](model::ThreadId of, const char* name, std::int64_t ofIterationNs) {
      const auto counter = trace.add(model::Counter{.hostId = host,
                                                    .processId = process,
                                                    .threadId = of,
                                                    .nameId = trace.name(name),
                                                    .unit = "ns",
                                                    .kind = model::CounterKind::Total});
      for (int iteration = 0; iteration <= kIterations; ++iteration)
        trace.add(model::Sample{counter,
                                1000 * kMs + iteration * 100 * kMs,
                                static_cast<double>(iteration * ofIterationNs)});
    };
    count(main, "cpu time", 30 * kMs);
    count(main, "run queue time", queuedNs);
    count(gloo[0], "cpu time", 15 * kMs);
  }

  test::TemporaryFolder folder_;
  std::string path_;
};

TEST_F(OverlappingReductions, FollowOneAnotherWhenTheBatchGrows) {
  write(0);
  // The first is ready at 40 + 2 · 10 ms, the second before the first has ended. Behind them come
  // 2 ms that do not depend on the batch, and the optimizer.
  EXPECT_NEAR(predictedNs(batchSize({.factor = 2})), 60 + 48 + 12 + 2 + 8, 0.5);
}

TEST_F(OverlappingReductions, LeaveTimeThatTheyStoleOutOfTheBatch) {
  write(10 * kMs);  // a quarter of 40 ms
  EXPECT_NEAR(predictedNs(batchSize({.factor = 2})), 52.5 + 48 + 12 + 2 + 8, 0.5);
  write(30 * kMs);  // half of 60 ms, but the reductions had only 15 ms
  EXPECT_NEAR(predictedNs(batchSize({.factor = 2})), 52.5 + 48 + 12 + 2 + 8, 0.5);
}

TEST_F(OverlappingReductions, LeaveTimeThatTheyStoleOutOfOtherMicroBatches) {
  write(0);
  // No forward pass and no backward pass of it copies what was reduced.
  EXPECT_NEAR(predictedNs(accumulation(2)), 100 + 20 + 30, 0.5);
  write(10 * kMs);
  EXPECT_NEAR(predictedNs(accumulation(2)), 100 + 0.75 * (20 + 30), 0.5);
  write(10 * kMs, true);  // and the kernel as much
  EXPECT_NEAR(predictedNs(accumulation(2)), 100 + 0.5 * (20 + 30), 0.5);
}

// Both ranks have one processor, and need 30 + 1.5 · 15 ms each.
TEST_F(OverlappingReductions, NeedProcessorsOnAFastNetwork) {
  write(10 * kMs, true);
  const Answer fast = ask(network({.bandwidthFactor = 1000}));
  EXPECT_LT(fast.predictedNs, 70 * kMs);
  EXPECT_GT(fast.highNs, 104 * kMs);
  EXPECT_THAT(fast.notes, ::testing::Contains(::testing::HasSubstr("105 ms of its processors")));
  const Answer slow = ask(network({.bandwidthFactor = 0.2}));
  EXPECT_THAT(slow.notes, ::testing::Not(::testing::Contains(::testing::HasSubstr("processors"))));
}

}  // namespace
}  // namespace sonde::engine::whatif
