#include "analysis/engine/critical/slack.h"

#include "analysis/engine/replay/replay.h"
#include "tests/engine/critical/random_graph.h"

#include <gtest/gtest.h>

#include <random>

namespace sonde::engine::critical {
namespace {

using graph::Graph;
using graph::NodeIndex;

// When the last node ends if `node` takes `durNs`.
std::int64_t endWith(const Graph& graph, NodeIndex node, std::int64_t durNs) {
  std::vector<std::int64_t> durations = graph.durNs;
  durations[node] = durNs;
  return replay::replay(graph, {durations, graph.gapNs}).back() + durations.back();
}

TEST(Slack, IsHowMuchLongerANodeMayTake) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const Graph graph = randomGraph(random);
    const auto last = static_cast<NodeIndex>(graph.nodes() - 1);
    const std::vector<std::int64_t> slack = slackOf(graph, {graph.beginNs, graph.durNs}, last);
    for (NodeIndex node = 0; node < last; ++node) {
      if (slack[node] == kUnrelated) {
        ASSERT_EQ(endWith(graph, node, graph.durNs[node] + 1000), graph.endNs(last));
        continue;
      }
      ASSERT_EQ(endWith(graph, node, graph.durNs[node] + slack[node]), graph.endNs(last));
      ASSERT_EQ(endWith(graph, node, graph.durNs[node] + slack[node] + 5), graph.endNs(last) + 5);
    }
  }
}

TEST(Slack, TheGainOfANodeIsHowMuchEarlierAllEndsWithoutIt) {
  std::mt19937 random(12);
  std::int64_t partial = 0;  // nodes that bring less than their length
  for (int round = 0; round < 1000; ++round) {
    const Graph graph = randomGraph(random);
    const auto last = static_cast<NodeIndex>(graph.nodes() - 1);
    const Times times{graph.beginNs, graph.durNs};
    const std::vector<Element> path = criticalPath(graph, times, last, 0);
    const std::vector<std::int64_t> gains =
        gainsOf(graph, times, path, slackOf(graph, times, last), last);
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (path[i].cause != Cause::Node)
        continue;
      ASSERT_EQ(gains[i], graph.endNs(last) - endWith(graph, path[i].node, 0)) << round;
      partial += gains[i] < graph.durNs[path[i].node] ? 1 : 0;
    }
  }
  EXPECT_GT(partial, 100);
}

}  // namespace
}  // namespace sonde::engine::critical
