// Gaps of iterations, predicted from those of the others.
#include "analysis/engine/replay/predicted_gaps.h"

#include "analysis/engine/graph/graph_builder.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sonde::engine::replay {
namespace {

using graph::EdgeKind;
using graph::NodeIndex;
using graph::NodeKind;
using ::testing::ElementsAre;

constexpr std::int64_t kWorkNs = 100;

// One thread with iterations, and a stream. An iteration begins at an instant, works, and works
// again after a gap. Its length without that gap is 200 ns.
class OneThread {
 public:
  OneThread() {
    thread_ = builder_.addLane({.processId = 1, .rank = 0});
    stream_ = builder_.addLane({.kind = graph::LaneKind::Stream, .processId = 1, .rank = 0});
    last_ = builder_.addNode(thread_, NodeKind::Host, 0, 0);
    kernel_ = builder_.addNode(stream_, NodeKind::Kernel, 0, 0);
  }

  void iterate(std::int64_t pauseNs, std::int64_t gapNs) {
    at_ += pauseNs;
    const NodeIndex first = next(0);
    next(kWorkNs);
    at_ += gapNs;
    add(first, next(kWorkNs));
  }
  // Nothing is in it.
  void iterateEmpty(std::int64_t pauseNs, std::int64_t lengthNs) {
    at_ += pauseNs;
    const NodeIndex first = next(0);
    add(first, next(lengthNs));
  }
  // The stream's next kernel; its gap begins at the last one's end.
  NodeIndex kernel(std::int64_t beginNs) {
    const NodeIndex node = builder_.addNode(stream_, NodeKind::Kernel, beginNs, 10);
    builder_.addEdge(kernel_, node, EdgeKind::Order);
    kernel_ = node;
    return node;
  }
  std::int64_t nowNs() const { return at_; }

  void predict() {
    trace_.graph = test::must(builder_.build());
    const std::vector<JobIteration> iterations = jobIterations(trace_);
    gaps_ = predictedGaps(trace_.graph,
                          iterations,
                          iterationOfNodes(trace_.graph, iterations),
                          std::vector<std::uint32_t>(iterations.size(), 0),
                          Builds(iterations.size(), true));
  }
  std::int64_t gapOf(NodeIndex node) const { return gaps_[node]; }
  // The predicted gaps before the iterations, and in them.
  std::vector<std::int64_t> pauses() const {
    std::vector<std::int64_t> found;
    for (const auto& each : trace_.iterations)
      found.push_back(gaps_[each.first]);
    return found;
  }
  std::vector<std::int64_t> inside() const {
    std::vector<std::int64_t> found;
    for (const auto& each : trace_.iterations) {
      found.push_back(0);
      for (NodeIndex node = each.first + 1; node <= each.last; ++node)
        found.back() += gaps_[node];
    }
    return found;
  }

 private:
  NodeIndex next(std::int64_t durNs) {
    const NodeIndex node = builder_.addNode(thread_, NodeKind::Host, at_, durNs);
    builder_.addEdge(last_, node, EdgeKind::Order);
    last_ = node;
    at_ += durNs;
    return node;
  }
  void add(NodeIndex first, NodeIndex last) {
    trace_.iterations.push_back({.processId = 1,
                                 .rank = 0,
                                 .number = static_cast<std::int64_t>(trace_.iterations.size()),
                                 .first = first,
                                 .last = last});
  }

  graph::GraphBuilder builder_;
  graph::TraceGraph trace_;
  graph::LaneIndex thread_ = 0;
  graph::LaneIndex stream_ = 0;
  NodeIndex last_ = 0;
  NodeIndex kernel_ = 0;
  std::int64_t at_ = 0;
  std::vector<std::int64_t> gaps_;
};

TEST(PredictedGaps, AreTheMeansOfTheOthers) {
  OneThread job;
  for (const std::int64_t gap : {10, 20, 60})
    job.iterate(0, gap);
  job.predict();
  EXPECT_THAT(job.inside(), ElementsAre(40, 35, 15));
}

TEST(PredictedGaps, APauseBeforeTheFirstIterationStaysThere) {
  OneThread job;
  job.iterate(1'000'000'000, 10);
  for (const std::int64_t gap : {20, 60})
    job.iterate(0, gap);
  job.predict();
  EXPECT_THAT(job.pauses(), ElementsAre(1'000'000'000, 0, 0));
  EXPECT_THAT(job.inside(), ElementsAre(40, 35, 15));
}

TEST(PredictedGaps, APauseBetweenEpochsStaysThere) {
  OneThread job;
  for (const std::int64_t pause : {5, 3, 700'000, 3})
    job.iterate(pause, 10);
  job.predict();
  EXPECT_THAT(job.pauses(), ElementsAre(5, 3, 700'000, 3));
  EXPECT_THAT(job.inside(), ElementsAre(10, 10, 10, 10));
}

TEST(PredictedGaps, EmptyIterationsDoNotGetPauses) {
  OneThread job;
  for (const std::int64_t pause : {50'000, 60'000, 70'000})
    job.iterateEmpty(pause, 4);
  job.iterate(80'000, 10);
  job.predict();
  EXPECT_THAT(job.pauses(), ElementsAre(50'000, 60'000, 70'000, 80'000));
  EXPECT_THAT(job.inside(), ElementsAre(0, 0, 0, 10));
}

// The stream's gap began in the pause.
TEST(PredictedGaps, OnlyThePartInsideOfTheIterationIsPredicted) {
  OneThread job;
  std::vector<NodeIndex> kernels;
  for (const std::int64_t late : {30, 50, 100}) {
    job.iterate(1000, 0);
    kernels.push_back(job.kernel(job.nowNs() - 2 * kWorkNs + late));
  }
  job.predict();
  EXPECT_EQ(job.gapOf(kernels[0]), 1000 + (50 + 100) / 2);
  // From the last kernel's end to the next iteration: 200 - 40 + 1000 ns.
  EXPECT_EQ(job.gapOf(kernels[1]), 1160 + (30 + 100) / 2);
  EXPECT_EQ(job.gapOf(kernels[2]), 1140 + (30 + 50) / 2);
}

}  // namespace
}  // namespace sonde::engine::replay
