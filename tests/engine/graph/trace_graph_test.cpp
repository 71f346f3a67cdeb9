#include "analysis/engine/graph/trace_graph.h"

#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/critical/second_parts.h"
#include "tests/engine/graph/trace_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::graph {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::Pair;

using test::kUs;

class GraphOfTrace : public test::TracePath {
 protected:
  // A main thread that records one operator, calls a backward pass, and goes on after it.
  Rank training() {
    const Rank made = rank(0);
    step(made, 0, us(0, 1000));
    trace_->slice(made.thread, model::SliceKind::Operator, "aten::addmm", us(0, 100));
    backward_ = trace_->slice(made.thread, model::SliceKind::Backward, "backward", us(100, 800));
    trace_->slice(made.thread, model::SliceKind::Operator, "aten::add_", us(800, 1000));
    worker_ = trace_->add(model::Thread{.processId = made.process, .tid = 777});
    return made;
  }

  // Counts of the check of clocks, if two ranks on two hosts come to two collectives.
  std::int64_t collectivesWithoutClocks(bool areMapped) {
    for (const std::int64_t number : {0, 1}) {
      const auto host = trace_->add(model::Host{.name = "host"});
      if (areMapped)
        trace_->add(model::ClockMap{.hostId = host});
      const auto process =
          trace_->add(model::Process{.hostId = host, .pid = 100, .rank = number, .startNs = 0});
      const auto thread = trace_->add(model::Thread{.processId = process, .tid = 100});
      const auto group = trace_->add(model::Communicator{
          .processId = process, .jobKey = "world", .size = 2, .backend = "gloo"});
      for (const std::int64_t seq : {1, 2})
        trace_->add(model::Collective{
            .processId = process,
            .communicatorId = group,
            .seq = seq,
            .op = model::CollectiveOp::Allreduce,
            .sliceId = trace_->slice(
                thread, model::SliceKind::Collective, "gloo:call", us(seq * 10, seq * 10 + 5)),
            .startNs = seq * 10 * kUs,
            .durNs = 5 * kUs});
    }
    const std::vector<Check> checks = test::must(readGraph(open())).checks;
    return std::find_if(checks.begin(),
                        checks.end(),
                        [](const Check& each) { return each.name == "clocks"; })
        ->violations;
  }

  model::SliceId backward_;
  model::ThreadId worker_;
};

TEST_F(GraphOfTrace, ABackwardPassIsTheAutogradThreads) {
  training();
  trace_->slice(worker_, model::SliceKind::Operator, "MulBackward0", us(150, 400));
  trace_->slice(worker_, model::SliceKind::Operator, "AddmmBackward0", us(400, 780));
  EXPECT_THAT(path(),
              ElementsAre(Pair("host aten::addmm", 100),
                          Pair("host backward", 50),
                          Pair("host MulBackward0", 250),
                          Pair("host AddmmBackward0", 380),
                          Pair("host backward", 20),
                          Pair("host aten::add_", 200)));
}

// The iterations of a job may overlap, and pass through the same time of a thread.
TEST_F(GraphOfTrace, PathsThatOverlapHaveTheSamePartsTogetherAndAlone) {
  training();
  trace_->slice(worker_, model::SliceKind::Operator, "MulBackward0", us(150, 400));
  const store::Database trace = open();
  const TraceGraph graph = test::must(readGraph(trace));
  auto paths = critical::pathsOf(graph);
  paths.push_back(paths.front());
  paths.push_back(paths.front());
  paths.back().path.erase(paths.back().path.begin());
  const auto textOf = [](const std::vector<critical::PathPart>& parts) {
    std::string text;
    for (const auto& each : parts)
      text +=
          each.what + " " + std::to_string(each.beginNs) + "-" + std::to_string(each.endNs) + "\n";
    return text;
  };
  std::string alone;
  for (const auto& each : paths)
    alone += textOf(test::must(critical::partsOf(trace, graph.graph, each.path)));
  EXPECT_EQ(textOf(test::must(critical::partsOf(trace, graph.graph, paths))), alone);
}

TEST_F(GraphOfTrace, ABackwardPassEndsWithItsLastCollective) {
  training();
  trace_->slice(worker_, model::SliceKind::Collective, "gloo:all_reduce", us(300, 400), {}, "gloo");
  trace_->slice(worker_, model::SliceKind::Collective, "gloo:all_reduce", us(650, 790), {}, "gloo");
  EXPECT_THAT(path(),
              ElementsAre(Pair("host aten::addmm", 100),
                          Pair("host backward", 550),
                          Pair("transfer gloo:all_reduce", 140),
                          Pair("host backward", 10),
                          Pair("host aten::add_", 200)));
}

// The second one ends after the pass, and the third one is the caller's own.
TEST_F(GraphOfTrace, ABackwardPassEndsWithTheLastOneInsideOfItOnAnotherThread) {
  const Rank made = training();
  const auto reduce = [&](model::ThreadId thread, Span time) {
    trace_->slice(thread, model::SliceKind::Collective, "gloo:all_reduce", time, {}, "gloo");
  };
  reduce(worker_, us(300, 400));
  reduce(worker_, us(750, 850));
  reduce(made.thread, us(500, 600));
  EXPECT_THAT(path(),
              ElementsAre(Pair("host aten::addmm", 100),
                          Pair("host backward", 200),
                          Pair("transfer gloo:all_reduce", 100),
                          Pair("host backward", 100),
                          Pair("transfer gloo:all_reduce", 100),
                          Pair("host backward", 200),
                          Pair("host aten::add_", 200)));
}

// The second bucket is three times as large as the first one, which was ready after 50 µs.
TEST_F(GraphOfTrace, ABucketThatWasQueuedNeedsItsGradients) {
  const Rank made = training();
  const auto reduce = [&](Span time, std::int64_t bytes) {
    trace_->add(model::Collective{
        .processId = made.process,
        .bytes = bytes,
        .sliceId = trace_->slice(
            worker_, model::SliceKind::Collective, "gloo:all_reduce", time, {}, "gloo"),
        .startNs = time.first,
        .durNs = time.second - time.first});
  };
  reduce(us(150, 400), 1000);
  reduce(us(402, 700), 3000);
  const store::Database trace = open();
  const Graph graph = test::must(readGraph(trace)).graph;
  std::vector<std::pair<std::int64_t, std::int64_t>> handoffs;  // when in the pass, and to whom
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
      if (graph.edgeKind[edge] == EdgeKind::Handoff)
        handoffs.emplace_back(graph.endNs(graph.from[edge]) / kUs, graph.beginNs[node] / kUs);
  EXPECT_THAT(handoffs, Contains(Pair(150, 150)));
  EXPECT_THAT(handoffs, Contains(Pair(300, 402)));
  EXPECT_THAT(handoffs, Not(Contains(Pair(402, 402))));
  const auto busy = [&](std::int64_t atUs) {
    for (NodeIndex node = 0; node < graph.nodes(); ++node)
      if (graph.lanes[graph.lane[node]].id == made.thread.value &&
          graph.beginNs[node] < atUs * kUs && graph.endNs(node) > atUs * kUs)
        return true;
    return false;
  };
  EXPECT_TRUE(busy(290));
  EXPECT_FALSE(busy(310));  // it waits for the reductions
}

TEST_F(GraphOfTrace, ACollectiveIsWaitedForByACallerThatDoesNothing) {
  const Rank made = rank(0);
  step(made, 0, us(0, 1000));
  trace_->slice(made.thread, model::SliceKind::Module, "DistributedDataParallel", us(100, 900));
  trace_->slice(made.thread, model::SliceKind::Module, "conv", us(600, 700));
  worker_ = trace_->add(model::Thread{.processId = made.process, .tid = 777});
  trace_->slice(worker_, model::SliceKind::Collective, "gloo:broadcast", us(150, 550), {}, "gloo");
  trace_->slice(worker_, model::SliceKind::Collective, "gloo:reduce", us(580, 720), {}, "gloo");
  const auto parts = path();
  EXPECT_THAT(parts, Contains(Pair("transfer gloo:broadcast", 400)));
  EXPECT_THAT(parts, Contains(Pair("host conv", 100)));
}

// Two streams; the second one's kernel begins when the first one's ends.
class TwoStreams : public GraphOfTrace {
 protected:
  void launch(bool waitsForEvent) {
    const Rank made = rank(0);
    step(made, 0, us(0, 100));
    const auto first = call(made, "cudaLaunchKernel", us(0, 10));
    if (waitsForEvent)
      call(made, "cudaStreamWaitEvent", us(10, 12));
    const auto second = call(made, "cudaLaunchKernel", us(12, 20));
    call(made, "cudaDeviceSynchronize", us(20, 100));
    kernel(stream(made, 7), "gemm", us(15, 60), first);
    kernel(stream(made, 8), "reduce", us(62, 95), second);
  }
};

TEST_F(TwoStreams, AnEventThatNobodyRecordedExplainsABegin) {
  launch(true);
  EXPECT_THAT(path(), Contains(Pair("device gemm", 45)));
}

TEST_F(TwoStreams, WithoutACallTheBeginIsUnexplained) {
  launch(false);
  const auto parts = path();
  EXPECT_THAT(parts, Not(Contains(Pair("device gemm", 45))));
  EXPECT_THAT(parts, Contains(Pair("gap reduce", ::testing::Gt(30))));
}

TEST_F(TwoStreams, TheNextLongestPathIsThatOfTheOtherStream) {
  launch(false);
  const store::Database trace = open();
  const TraceGraph graph = test::must(readGraph(trace));
  const auto seconds =
      test::must(critical::secondPartsOf(trace, graph.graph, critical::pathsOf(graph)));
  ASSERT_EQ(seconds.size(), 1U);
  ASSERT_TRUE(seconds[0]);
  EXPECT_EQ(seconds[0]->through.what, "gemm");
  EXPECT_EQ(seconds[0]->through.cause, critical::PathCause::Device);
  EXPECT_EQ(seconds[0]->behindNs, 35 * kUs);
}

TEST_F(GraphOfTrace, AKernelThatEndsAfterTheNextBeginsIsCut) {
  const Rank made = rank(0);
  const auto queue = stream(made, 7);
  call(made, "cudaLaunchKernel", us(0, 1));
  kernel(queue, "long", us(10, 900));
  kernel(queue, "next", us(20, 30));
  kernel(queue, "last", us(40, 60));
  const TraceGraph graph = test::must(readGraph(open()));
  std::int64_t busy = 0;
  for (NodeIndex node = 0; node < graph.graph.nodes(); ++node)
    busy += graph.graph.kind[node] == NodeKind::Kernel ? graph.graph.durNs[node] : 0;
  EXPECT_EQ(busy, 40 * kUs);
}

TEST_F(GraphOfTrace, RanksThatBeginLateAreNotWaitedFor) {
  for (const std::int64_t number : {0, 1}) {
    const Rank made = rank(number);
    step(made, 0, us(number * 500, number * 500 + 100));
  }
  const auto paths = critical::pathsOf(test::must(readGraph(open())));
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].rank, 1);
  EXPECT_EQ(paths[0].lengthNs(), 100 * kUs);
}

TEST_F(GraphOfTrace, CollectivesThatDifferAreNamed) {
  for (const std::int64_t number : {0, 1}) {
    const Rank made = rank(number);
    const auto group = trace_->add(model::Communicator{
        .processId = made.process, .jobKey = "world", .size = 3, .backend = "gloo"});
    const auto slice =
        trace_->slice(made.thread, model::SliceKind::Collective, "gloo:call", us(0, 10));
    trace_->add(model::Collective{
        .processId = made.process,
        .communicatorId = group,
        .seq = 4,
        .op = number == 0 ? model::CollectiveOp::Allreduce : model::CollectiveOp::Broadcast,
        .sliceId = slice,
        .startNs = 0,
        .durNs = 10 * kUs});
  }
  const TraceGraph graph = test::must(readGraph(open()));
  const auto find = [&](const std::string& name) {
    return *std::find_if(graph.checks.begin(), graph.checks.end(), [&](const Check& each) {
      return each.name == name;
    });
  };
  EXPECT_EQ(find("partners").violations, 1);
  EXPECT_EQ(find("mismatch").violations, 1);
  EXPECT_THAT(
      find("mismatch").text,
      ::testing::HasSubstr("number 4 of group 'world': rank 0 allreduce, rank 1 broadcast"));
}

TEST_F(GraphOfTrace, CollectivesOfHostsWithUnknownClocksAreCounted) {
  EXPECT_EQ(collectivesWithoutClocks(false), 2);
}

TEST_F(GraphOfTrace, CollectivesOfHostsWithKnownClocksAreFine) {
  EXPECT_EQ(collectivesWithoutClocks(true), 0);
}

TEST_F(GraphOfTrace, AnEmptyTraceHasNone) {
  rank(0);
  const auto graph = readGraph(open());
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::graph
