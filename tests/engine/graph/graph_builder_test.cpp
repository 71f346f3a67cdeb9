#include "analysis/engine/graph/graph_builder.h"

#include "analysis/engine/replay/replay.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A host that launches two kernels and waits for the second.
Graph launches() {
  GraphBuilder builder;
  const LaneIndex thread = builder.addLane({});
  const LaneIndex stream = builder.addLane({.kind = LaneKind::Stream});
  const NodeIndex end = builder.addNode(thread, NodeKind::Host, 90, 10);
  const NodeIndex first = builder.addNode(thread, NodeKind::Host, 0, 10);
  const NodeIndex second = builder.addNode(thread, NodeKind::Host, 10, 10);
  const NodeIndex kernel = builder.addNode(stream, NodeKind::Kernel, 15, 40);
  const NodeIndex next = builder.addNode(stream, NodeKind::Kernel, 57, 30);
  builder.addEdge(first, second, EdgeKind::Order);
  builder.addEdge(second, end, EdgeKind::Order);
  builder.addEdge(first, kernel, EdgeKind::Launch, 5);
  builder.addEdge(second, next, EdgeKind::Launch, 5);
  builder.addEdge(kernel, next, EdgeKind::Order);
  builder.addEdge(next, end, EdgeKind::Sync);
  Result<Graph> graph = builder.build();
  EXPECT_TRUE(graph);
  return std::move(*graph);
}

TEST(GraphBuilder, KnowsWhatNoEdgeExplains) {
  EXPECT_THAT(launches().gapNs, ElementsAre(3, 0, 0, 0, 2));
}

TEST(GraphBuilder, OrdersNodesAfterTheirNeeds) {
  EXPECT_THAT(launches().order, ElementsAre(1, 2, 3, 4, 0));
}

// They are neighbours in memory.
TEST(GraphBuilder, OrdersTheNodesOfALaneOneAfterTheOther) {
  GraphBuilder builder;
  for (const std::int64_t host : {1, 2}) {
    const LaneIndex lane = builder.addLane({.hostId = host});
    for (const std::int64_t begin : {0, 10, 20}) {
      const NodeIndex node = builder.addNode(lane, NodeKind::Host, begin, 10);
      if (begin > 0)
        builder.addEdge(node - 1, node, EdgeKind::Order);
    }
  }
  EXPECT_THAT(test::must(builder.build()).order, ElementsAre(0, 1, 2, 3, 4, 5));
}

// Two instants that need each other: the edge to the earlier node goes.
TEST(GraphBuilder, BreaksACircleOfInstants) {
  GraphBuilder builder;
  const LaneIndex lane = builder.addLane({});
  const NodeIndex before = builder.addNode(lane, NodeKind::Host, 0, 10);
  const NodeIndex one = builder.addNode(lane, NodeKind::Host, 10, 0);
  const NodeIndex other = builder.addNode(lane, NodeKind::Host, 10, 0);
  builder.addEdge(before, one, EdgeKind::Order);
  builder.addEdge(one, other, EdgeKind::Handoff);
  builder.addEdge(other, one, EdgeKind::Handoff);
  const Graph graph = test::must(builder.build());
  EXPECT_EQ(builder.circles(), 1);
  EXPECT_THAT(graph.order, ElementsAre(before, one, other));
  EXPECT_THAT(graph.from, ElementsAre(before, one));
}

TEST(GraphBuilder, GroupsEdgesByTarget) {
  const Graph graph = launches();
  EXPECT_THAT(graph.firstIn, ElementsAre(0, 2, 2, 3, 4, 6));
  EXPECT_THAT(graph.from, ElementsAre(2, 4, 1, 1, 2, 3));
  EXPECT_THAT(graph.lagNs, ElementsAre(0, 0, 0, 5, 5, 0));
}

TEST(GraphBuilder, EdgesOfOneKindBetweenTheSameNodesBecomeTheLongest) {
  GraphBuilder builder;
  const LaneIndex lane = builder.addLane({});
  const NodeIndex from = builder.addNode(lane, NodeKind::Host, 0, 10);
  const NodeIndex to = builder.addNode(lane, NodeKind::Host, 40, 10);
  for (const std::int64_t lag : {10, 30, 20})
    builder.addEdge(from, to, EdgeKind::Message, lag);
  builder.addEdge(from, to, EdgeKind::Order);
  const Result<Graph> graph = builder.build();
  ASSERT_TRUE(graph);
  EXPECT_THAT(graph->from, ElementsAre(from, from));
  EXPECT_THAT(graph->lagNs, ElementsAre(30, 0));
  EXPECT_THAT(graph->gapNs, ElementsAre(0, 0));
}

TEST(GraphBuilder, KnowsWhoNeedsANode) {
  const Successors next = successorsOf(launches());
  EXPECT_THAT(next.firstOut, ElementsAre(0, 0, 2, 4, 5, 6));
  EXPECT_THAT(next.to, ElementsAre(2, 3, 0, 4, 4, 0));
}

TEST(GraphBuilder, RefusesACircle) {
  GraphBuilder builder;
  const LaneIndex lane = builder.addLane({.rank = 3});
  const NodeIndex a = builder.addNode(lane, NodeKind::Host, 0, 10);
  const NodeIndex b = builder.addNode(lane, NodeKind::Host, 10, 10);
  builder.addEdge(a, b, EdgeKind::Order);
  builder.addEdge(b, a, EdgeKind::Handoff);
  const Result<Graph> graph = builder.build();
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("rank 3"));
}

TEST(Replay, OfTheOwnTimesGivesTheMeasuredOnes) {
  const Graph graph = launches();
  EXPECT_EQ(replay::replay(graph, {graph.durNs, graph.gapNs}), graph.beginNs);
}

TEST(Replay, FollowsTheLatestNeed) {
  const Graph graph = launches();
  std::vector<std::int64_t> durations = graph.durNs;
  durations[3] = 5;  // the first kernel: the second now waits for its launch
  EXPECT_THAT(replay::replay(graph, {durations, graph.gapNs}), ElementsAre(60, 0, 10, 15, 27));
}

}  // namespace
}  // namespace sonde::engine::graph
