#include "analysis/engine/critical/critical_path.h"

#include "analysis/engine/graph/graph_builder.h"
#include "tests/engine/critical/random_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sonde::engine::critical {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::NodeIndex;
using graph::NodeKind;

// The length of the longest chain to the end of `node`, over all chains.
std::int64_t longest(const Graph& graph, NodeIndex node) {
  std::int64_t most = 0;
  for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
    most = std::max(most, longest(graph, graph.from[edge]) + graph.lagNs[edge] + graph.gapNs[node]);
  return most + graph.durNs[node];
}

std::int64_t sumOf(const std::vector<Element>& path) {
  std::int64_t sum = 0;
  for (const Element& each : path)
    sum += each.lengthNs();
  return sum;
}

TEST(CriticalPath, IsTheLongestChainOfRandomGraphs) {
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    const Graph graph = randomGraph(random);
    const auto last = static_cast<NodeIndex>(graph.nodes() - 1);
    const std::vector<Element> path = criticalPath(graph, {graph.beginNs, graph.durNs}, last, 0);
    ASSERT_EQ(sumOf(path), longest(graph, last)) << round;
    ASSERT_EQ(sumOf(path), graph.endNs(last)) << round;
    for (std::size_t i = 1; i < path.size(); ++i)
      ASSERT_EQ(path[i - 1].endNs, path[i].beginNs) << round;
  }
}

TEST(CriticalPath, BeginsWhereTheStretchBegins) {
  graph::GraphBuilder builder;
  const graph::LaneIndex lane = builder.addLane({});
  builder.addEdge(builder.addNode(lane, NodeKind::Host, 0, 10),
                  builder.addNode(lane, NodeKind::Host, 10, 20),
                  EdgeKind::Order);
  const Graph graph = std::move(*builder.build());
  const NodeIndex last = 1;
  const std::vector<Element> path = criticalPath(graph, {graph.beginNs, graph.durNs}, last, 5);
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(path.front().beginNs, 5);
  EXPECT_EQ(sumOf(path), graph.endNs(last) - 5);
}

TEST(CriticalPath, ANodeThatNeedsNothingLeavesAGap) {
  graph::GraphBuilder builder;
  const graph::LaneIndex lane = builder.addLane({});
  builder.addNode(lane, NodeKind::Host, 100, 10);
  const Graph graph = std::move(*builder.build());
  const std::vector<Element> path = criticalPath(graph, {graph.beginNs, graph.durNs}, 0, 40);
  ASSERT_EQ(path.size(), 2U);
  EXPECT_EQ(path[0].cause, Cause::Gap);
  EXPECT_EQ(path[0].lengthNs(), 60);
}

}  // namespace
}  // namespace sonde::engine::critical
