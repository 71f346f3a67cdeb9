#include "analysis/engine/critical/second_path.h"

#include "analysis/engine/replay/replay.h"
#include "tests/engine/critical/random_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

namespace sonde::engine::critical {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::NodeIndex;
using graph::NodeKind;

std::set<NodeIndex> nodesOf(const std::vector<Element>& path) {
  std::set<NodeIndex> nodes;
  for (const Element& each : path)
    if (each.cause == Cause::Node)
      nodes.insert(each.node);
  return nodes;
}

// The length of the longest chain to the end of `node` that has a node with a length outside of
// `without`, over all chains. `has`: it has one already.
std::optional<std::int64_t> longestWithout(const Graph& graph,
                                           const Times& times,
                                           NodeIndex node,
                                           const std::set<NodeIndex>& without,
                                           bool has = false) {
  const std::int64_t lasts = times.durNs[node];
  has = has || (lasts > 0 && !without.contains(node));
  if (graph.firstIn[node] == graph.firstIn[node + 1])
    return has ? std::optional(lasts) : std::nullopt;
  std::optional<std::int64_t> most;
  for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
    if (const auto before = longestWithout(graph, times, graph.from[edge], without, has)) {
      const std::int64_t length = *before + graph.lagNs[edge] + graph.gapNs[node] + lasts;
      most = std::max(most.value_or(length), length);
    }
  return most;
}

TEST(SecondPath, IsTheLongestOtherChainOfRandomGraphs) {
  std::mt19937 random(17);
  int found = 0;
  int ties = 0;
  for (int round = 0; round < 5000; ++round) {
    const Graph graph = randomGraph(random);
    const auto last = static_cast<NodeIndex>(graph.nodes() - 1);
    std::vector<std::int64_t> durations = graph.durNs;
    for (std::int64_t& each : durations)
      each = random() % 2 == 0 ? 0 : each;  // instants
    const std::vector<std::int64_t> begin = replay::replay(graph, {durations, graph.gapNs});
    const Times times{begin, durations};
    const std::set<NodeIndex> first = nodesOf(criticalPath(graph, times, last, 0));
    const auto other = longestWithout(graph, times, last, first);
    const auto second = secondPath(graph, times, last, 0);
    ASSERT_EQ(second.has_value(), other.has_value()) << round;
    if (!second)
      continue;
    ++found;
    ties += second->behindNs == 0 ? 1 : 0;
    ASSERT_EQ(second->behindNs, begin[last] + durations[last] - *other) << round;
    ASSERT_FALSE(first.contains(second->through.node)) << round;
    ASSERT_GT(second->through.lengthNs(), 0) << round;
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(ties, 20);
}

// A node that needs two others, of which one ends 30 later.
struct Fork {
  Fork() {
    const graph::LaneIndex lane = builder.addLane({});
    early = builder.addNode(lane, NodeKind::Host, 10, 60);
    late = builder.addNode(lane, NodeKind::Host, 0, 100);
    last = builder.addNode(lane, NodeKind::Host, 100, 50);
    builder.addEdge(early, last, EdgeKind::Handoff);
    builder.addEdge(late, last, EdgeKind::Order);
  }
  std::optional<SecondPath> second(std::int64_t fromNs) {
    const Graph graph = std::move(*builder.build());
    return secondPath(graph, {graph.beginNs, graph.durNs}, last, fromNs);
  }
  graph::GraphBuilder builder;
  NodeIndex early;
  NodeIndex late;
  NodeIndex last;
};

TEST(SecondPath, LeadsThroughTheNextNeed) {
  Fork fork;
  const auto second = fork.second(0);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->behindNs, 30);
  EXPECT_EQ(second->through.node, fork.early);
}

TEST(SecondPath, HasNothingFromBeforeTheStretch) {
  EXPECT_FALSE(Fork().second(70));
  const auto second = Fork().second(69);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->through.lengthNs(), 1);
}

TEST(SecondPath, AnInstantBesideThePathIsNone) {
  graph::GraphBuilder builder;
  const graph::LaneIndex lane = builder.addLane({});
  const NodeIndex first = builder.addNode(lane, NodeKind::Host, 0, 100);
  const NodeIndex instant = builder.addNode(lane, NodeKind::Host, 100, 0);
  const NodeIndex last = builder.addNode(lane, NodeKind::Host, 105, 10);
  builder.addEdge(first, last, EdgeKind::Handoff, 5);
  builder.addEdge(first, last, EdgeKind::Order);
  builder.addEdge(first, instant, EdgeKind::Order);
  builder.addEdge(instant, last, EdgeKind::Order);
  const Graph graph = std::move(*builder.build());
  EXPECT_FALSE(secondPath(graph, {graph.beginNs, graph.durNs}, last, 0));
}

}  // namespace
}  // namespace sonde::engine::critical
