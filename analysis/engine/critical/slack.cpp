#include "analysis/engine/critical/slack.h"

#include <queue>

#include <algorithm>
#include <functional>
#include <utility>

namespace sonde::engine::critical {
namespace {

using graph::Graph;
using graph::NodeIndex;

std::int64_t endOf(const Times& times, NodeIndex node) {
  return times.beginNs[node] + times.durNs[node];
}

// A path that passes by all nodes between two positions of the order.
struct Bypass {
  std::uint32_t from;      // the first position that it avoids
  std::uint32_t to;        // behind the last
  std::int64_t shorterNs;  // than the critical path
};

// The bypasses of a stretch. Any path that avoids a node has an edge over its position in the
// order, or begins behind it.
std::vector<Bypass> bypasses(const Graph& graph,
                             const Times& times,
                             const std::vector<std::int64_t>& slack,
                             const std::vector<std::uint32_t>& position,
                             std::int64_t fromNs) {
  std::vector<Bypass> found;
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    if (slack[node] == kUnrelated || endOf(times, node) < fromNs)
      continue;
    if (graph.firstIn[node] == graph.firstIn[node + 1])
      found.push_back({0, position[node], slack[node]});
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge) {
      const NodeIndex from = graph.from[edge];
      const std::int64_t ready = endOf(times, from) + graph.lagNs[edge] + graph.gapNs[node];
      const std::int64_t shorter = times.beginNs[node] - ready + slack[node];
      if (position[from] + 1 < position[node])
        found.push_back({position[from] + 1, position[node], shorter});
    }
  }
  std::sort(
      found.begin(), found.end(), [](const Bypass& a, const Bypass& b) { return a.from < b.from; });
  return found;
}

}  // namespace

std::vector<std::int64_t> slackOf(const Graph& graph, const Times& times, NodeIndex last) {
  std::vector<std::int64_t> slack(graph.nodes(), kUnrelated);
  slack[last] = 0;
  for (auto at = graph.order.rbegin(); at != graph.order.rend(); ++at) {
    const NodeIndex node = *at;
    if (slack[node] == kUnrelated)
      continue;
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge) {
      const NodeIndex from = graph.from[edge];
      const std::int64_t ready = endOf(times, from) + graph.lagNs[edge] + graph.gapNs[node];
      slack[from] = std::min(slack[from], slack[node] + times.beginNs[node] - ready);
    }
  }
  return slack;
}

std::vector<std::int64_t> gainsOf(const Graph& graph,
                                  const Times& times,
                                  const std::vector<Element>& path,
                                  const std::vector<std::int64_t>& slack,
                                  NodeIndex last) {
  std::vector<std::int64_t> gains(path.size(), 0);
  if (path.empty())
    return gains;
  std::vector<std::uint32_t> position(graph.nodes());
  for (std::uint32_t i = 0; i < graph.order.size(); ++i)
    position[graph.order[i]] = i;
  const std::vector<Bypass> all = bypasses(graph, times, slack, position, path.front().beginNs);
  std::vector<std::pair<std::uint32_t, std::size_t>> asked;  // position, element
  for (std::size_t i = 0; i < path.size(); ++i)
    if (path[i].cause == Cause::Node)
      asked.emplace_back(position[path[i].node], i);
  std::sort(asked.begin(), asked.end());
  using Open = std::pair<std::int64_t, std::uint32_t>;  // shorter by, until
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  std::size_t next = 0;
  for (const auto& [at, element] : asked) {
    for (; next < all.size() && all[next].from <= at; ++next)
      open.emplace(all[next].shorterNs, all[next].to);
    while (!open.empty() && open.top().second <= at)
      open.pop();
    const NodeIndex node = path[element].node;
    const std::int64_t most = node == last   ? times.durNs[node]
                              : open.empty() ? times.durNs[node]
                                             : open.top().first;
    gains[element] = std::clamp<std::int64_t>(most, 0, times.durNs[node]);
  }
  return gains;
}

}  // namespace sonde::engine::critical
