#include "analysis/engine/replay/incremental_replay.h"

#include "analysis/engine/graph/graph_builder.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace sonde::engine::replay {
namespace {

using graph::Graph;
using graph::NodeIndex;

// Nodes that need some of those before them.
Graph randomGraph(std::mt19937& random, NodeIndex nodes) {
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  graph::GraphBuilder builder;
  builder.addLane({});
  for (NodeIndex node = 0; node < nodes; ++node) {
    builder.addNode(0, graph::NodeKind::Host, from(0, 1000), from(0, 50));
    for (std::int64_t needs = node == 0 ? 0 : from(0, 3); needs > 0; --needs)
      builder.addEdge(
          static_cast<NodeIndex>(from(0, node - 1)), node, graph::EdgeKind::Data, from(0, 20));
  }
  return test::must(builder.build());
}

TEST(IncrementalReplay, EqualsAReplayOfEverything) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  for (int round = 0; round < 100; ++round) {
    const Graph graph = randomGraph(random, 200);
    std::vector<std::int64_t> dur = graph.durNs;
    std::vector<std::int64_t> gap = graph.gapNs;
    std::vector<std::uint32_t> lag = graph.lagNs;
    const Settings settings{dur, gap, &lag};
    IncrementalReplay incremental(graph, settings);
    for (int change = 0; change < 10; ++change) {
      std::vector<NodeIndex> changed;
      for (int i = 0; i < 3; ++i) {
        const auto node = static_cast<NodeIndex>(below(graph.nodes()));
        changed.push_back(node);
        dur[node] = static_cast<std::int64_t>(below(80));
        gap[node] = static_cast<std::int64_t>(below(10));
        if (graph.firstIn[node] < graph.firstIn[node + 1])
          lag[graph.firstIn[node]] = static_cast<std::uint32_t>(below(30));
      }
      const std::vector<std::int64_t> before = incremental.beginNs();
      const std::vector<NodeIndex> moved = incremental.update(settings, changed);
      ASSERT_EQ(incremental.beginNs(), replay(graph, settings)) << round;
      std::size_t others = 0;
      for (NodeIndex node = 0; node < graph.nodes(); ++node)
        others += before[node] != incremental.beginNs()[node] ? 1U : 0U;
      EXPECT_EQ(moved.size(), others);
    }
  }
}

TEST(IncrementalReplay, LeavesWhatAChangeDoesNotReach) {
  graph::GraphBuilder builder;
  builder.addLane({});
  for (int node = 0; node < 4; ++node)
    builder.addNode(0, graph::NodeKind::Host, 0, 10);
  builder.addEdge(0, 1, graph::EdgeKind::Order);
  builder.addEdge(2, 3, graph::EdgeKind::Order);
  const Graph graph = test::must(builder.build());
  std::vector<std::int64_t> dur = graph.durNs;
  IncrementalReplay incremental(graph, {dur, graph.gapNs});
  dur[0] = 30;
  EXPECT_EQ(incremental.update({dur, graph.gapNs}, {0}), std::vector<NodeIndex>{1});
  EXPECT_EQ(incremental.beginNs()[1], 30 + graph.gapNs[1]);
}

}  // namespace
}  // namespace sonde::engine::replay
