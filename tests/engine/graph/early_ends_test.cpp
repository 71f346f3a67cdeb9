// Waits that ended before what they waited for had come: the clocks disagree.
#include "tests/engine/graph/trace_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::engine::graph {
namespace {

class EarlyEnds : public test::TracePath {
 protected:
  // Ranks 0 and 1 call a collective, 30 µs apart. Rank 0 leaves it 20 µs before rank 1 comes.
  void collect(bool onDevice) {
    for (const std::int64_t number : {0, 1}) {
      const Rank made = rank(number);
      const Span time = us(30 * number, 30 * number + 10);
      const auto group = trace_->add(model::Communicator{.processId = made.process,
                                                         .jobKey = "world",
                                                         .size = 2,
                                                         .backend = onDevice ? "nccl" : "gloo"});
      model::Collective row{.processId = made.process,
                            .communicatorId = group,
                            .seq = 0,
                            .op = model::CollectiveOp::Allreduce,
                            .startNs = time.first,
                            .durNs = time.second - time.first};
      if (onDevice)
        row.kernelId = kernel(stream(made, 7), "ncclDevKernel_AllReduce", time);
      else
        row.sliceId = trace_->slice(made.thread, model::SliceKind::Collective, "call", time);
      trace_->add(row);
    }
  }
  Check times() {
    const TraceGraph graph = test::must(readGraph(open()));
    return *std::find_if(graph.checks.begin(), graph.checks.end(), [](const Check& each) {
      return each.name == "times";
    });
  }
};

TEST_F(EarlyEnds, OfThreadsAreCounted) {
  const Rank made = rank(0);
  const auto other = trace_->add(model::Thread{.processId = made.process, .tid = 777});
  trace_->slice(other, model::SliceKind::Operator, "work", us(0, 200));
  for (const std::int64_t lateUs : {5, 40}) {
    const Span time = us(10 * lateUs, 10 * lateUs + 50);
    trace_->add(
        model::Handoff{.sliceId = trace_->slice(made.thread, model::SliceKind::Wait, "wait", time),
                       .object = 4096,
                       .kind = model::SyncObject::Semaphore,
                       .wakerThreadId = other,
                       .wakerNs = time.second + lateUs * test::kUs,
                       .wakeeThreadId = made.thread,
                       .blockNs = time.first,
                       .wakeNs = time.second,
                       .certain = true});
  }
  const Check found = times();
  EXPECT_EQ(found.violations, 2);
  EXPECT_EQ(found.worstNs, 40 * test::kUs);
}

TEST_F(EarlyEnds, OfRanksThatMeetAreCounted) {
  collect(false);
  const Check found = times();
  EXPECT_EQ(found.violations, 1);
  EXPECT_EQ(found.worstNs, 20 * test::kUs);
}

TEST_F(EarlyEnds, OfKernelsThatMeetAreCounted) {
  collect(true);
  const Check found = times();
  EXPECT_EQ(found.violations, 1);
  EXPECT_EQ(found.worstNs, 20 * test::kUs);
}

}  // namespace
}  // namespace sonde::engine::graph
