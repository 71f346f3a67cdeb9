#include "analysis/engine/graph/node_order.h"

#include "analysis/engine/graph/graph_builder.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace sonde::engine::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The needs of each node.
using Needs = std::vector<std::vector<NodeIndex>>;

Graph graphOf(const Needs& needs, std::int64_t durNs = 1) {
  Graph graph;
  graph.lanes.resize(1);
  graph.firstIn.push_back(0);
  for (const auto& each : needs) {
    graph.beginNs.push_back(0);
    graph.durNs.push_back(durNs);
    graph.lane.push_back(0);
    graph.from.insert(graph.from.end(), each.begin(), each.end());
    graph.firstIn.push_back(static_cast<std::uint32_t>(graph.from.size()));
  }
  graph.lagNs.resize(graph.from.size());
  graph.edgeKind.resize(graph.from.size());
  return graph;
}

void expectOrdered(const Graph& graph) {
  ASSERT_THAT(graph.order, SizeIs(graph.nodes()));
  std::vector<bool> isPlaced(graph.nodes());
  for (const NodeIndex node : graph.order) {
    EXPECT_FALSE(isPlaced[node]);
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
      EXPECT_TRUE(isPlaced[graph.from[edge]]) << node << " before " << graph.from[edge];
    isPlaced[node] = true;
  }
}

TEST(NodeOrder, KeepsTheOldOrderWhereItCan) {
  Graph graph = graphOf({{}, {0}, {1}, {}, {3}, {2}});
  graph.order = {3, 4, 0, 1, 2};  // node 5 is new
  EXPECT_THAT(test::must(reorderNodes(graph)), IsEmpty());
  EXPECT_THAT(graph.order, ElementsAre(3, 4, 0, 1, 2, 5));
}

TEST(NodeOrder, BringsNewNeedsForward) {
  Graph graph = graphOf({{}, {0, 4}, {1}, {2}, {0}});
  graph.order = {0, 1, 2, 3};
  EXPECT_THAT(test::must(reorderNodes(graph)), IsEmpty());
  EXPECT_THAT(graph.order, ElementsAre(0, 4, 1, 2, 3));
}

TEST(NodeOrder, OrdersRandomChanges) {
  std::mt19937 chance(1);
  for (int round = 0; round < 300; ++round) {
    const auto nodes = std::uniform_int_distribution<std::size_t>(1, 60)(chance);
    std::vector<NodeIndex> places(nodes);  // a hidden order that all needs keep to
    for (NodeIndex node = 0; node < nodes; ++node)
      places[node] = node;
    std::shuffle(places.begin(), places.end(), chance);
    Needs needs(nodes);
    for (std::size_t i = 1; i < nodes; ++i)
      for (int k = 0; k < 3; ++k)
        needs[places[i]].push_back(places[chance() % i]);
    Graph graph = graphOf(needs);
    // Any order of some nodes may be the old one.
    for (NodeIndex node = 0; node < nodes * 2 / 3; ++node)
      graph.order.push_back(node);
    std::shuffle(graph.order.begin(), graph.order.end(), chance);
    EXPECT_THAT(test::must(reorderNodes(graph)), IsEmpty());
    expectOrdered(graph);
    EXPECT_THAT(test::must(orderNodes(graph)), IsEmpty());
    expectOrdered(graph);
  }
}

TEST(NodeOrder, BreaksACircleOfInstants) {
  Graph graph = graphOf({{1}, {0}, {1}}, 0);
  graph.order = {0, 1, 2};
  EXPECT_THAT(test::must(reorderNodes(graph)), SizeIs(1));
  removeEdges(graph);
  EXPECT_THAT(graph.from, SizeIs(2));
  expectOrdered(graph);
}

TEST(NodeOrder, RefusesACircleThatTakesTime) {
  Graph graph = graphOf({{1}, {0}});
  graph.order = {0, 1};
  EXPECT_FALSE(reorderNodes(graph));
}

}  // namespace
}  // namespace sonde::engine::graph
