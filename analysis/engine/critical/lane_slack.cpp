#include "analysis/engine/critical/lane_slack.h"

#include "analysis/engine/critical/slack.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace sonde::engine::critical {
namespace {

using graph::Graph;
using graph::LaneIndex;
using graph::NodeIndex;

struct Sum {
  std::int64_t pathNs = 0;
  std::int64_t slackNs = 0;
  std::int64_t iterations = 0;
};

void addIteration(const Graph& graph, const IterationPath& path, std::map<LaneIndex, Sum>& sums) {
  const std::vector<std::int64_t> slack = slackOf(graph, {graph.beginNs, graph.durNs}, path.last);
  std::map<LaneIndex, std::int64_t> least;
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    const bool isInside = graph.durNs[node] > 0 && graph.endNs(node) > path.beginNs &&
                          graph.beginNs[node] < path.endNs;
    if (!isInside || slack[node] == kUnrelated)
      continue;
    const auto [place, isNew] = least.emplace(graph.lane[node], slack[node]);
    place->second = std::min(place->second, slack[node]);
  }
  for (const auto& [lane, ns] : least) {
    sums[lane].slackNs += ns;
    ++sums[lane].iterations;
  }
  for (const Element& each : path.path)
    sums[graph.lane[each.node]].pathNs += each.lengthNs();
}

}  // namespace

std::vector<LaneSlack> laneSlacks(const Graph& graph, const std::vector<IterationPath>& paths) {
  constexpr std::size_t kMost = 16;
  const std::size_t count = std::min(kMost, paths.size());
  std::map<LaneIndex, Sum> sums;
  for (std::size_t i = 0; i < count; ++i)
    addIteration(graph, paths[i * paths.size() / count], sums);
  std::vector<LaneSlack> found;
  for (const auto& [lane, sum] : sums)
    if (sum.iterations > 0)
      found.push_back(
          {lane, sum.pathNs / static_cast<std::int64_t>(count), sum.slackNs / sum.iterations});
  std::stable_sort(found.begin(), found.end(), [](const LaneSlack& a, const LaneSlack& b) {
    return std::tie(a.slackNs, b.pathNs) < std::tie(b.slackNs, a.pathNs);
  });
  return found;
}

}  // namespace sonde::engine::critical
