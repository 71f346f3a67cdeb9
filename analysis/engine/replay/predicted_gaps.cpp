#include "analysis/engine/replay/predicted_gaps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace sonde::engine::replay {
namespace {

using graph::Graph;
using graph::NodeIndex;

// Nodes of one kind on one lane, in iterations of one structure.
using Key = std::tuple<graph::LaneIndex, graph::NodeKind, std::uint32_t>;

struct Sum {
  double gapNs = 0;
  std::int64_t nodes = 0;
};

struct Sums {
  std::map<std::uint32_t, Sum> byIteration;
  double builtNs = 0;
  std::int64_t built = 0;  // iterations
};

// How much of each node's gap lies in the node's iteration; nullopt: the node begins in none, or
// begins one.
std::vector<std::optional<std::int64_t>> gapsInside(const Graph& graph,
                                                    const std::vector<JobIteration>& iterations) {
  const IterationWindows windows(graph, iterations);
  std::vector<std::optional<std::int64_t>> inside(graph.nodes());
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    const std::int64_t ns = graph.beginNs[node];
    const auto begin = windows.beginNsAt(graph.lanes[graph.lane[node]], ns);
    if (begin && *begin < ns)
      inside[node] = std::min(graph.gapNs[node], ns - *begin);
  }
  return inside;
}

}  // namespace

std::vector<std::int64_t> predictedGaps(const Graph& graph,
                                        const std::vector<JobIteration>& iterations,
                                        const std::vector<std::uint32_t>& iterationOf,
                                        const std::vector<std::uint32_t>& structures,
                                        const Builds& builds) {
  const auto keyOf = [&](NodeIndex node) {
    return Key(graph.lane[node], graph.kind[node], structures[iterationOf[node]]);
  };
  const std::vector<std::optional<std::int64_t>> inside = gapsInside(graph, iterations);
  std::map<Key, Sums> sums;
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (inside[node]) {
      Sum& sum = sums[keyOf(node)].byIteration[iterationOf[node]];
      sum.gapNs += static_cast<double>(*inside[node]);
      ++sum.nodes;
    }
  for (auto& [key, all] : sums)
    for (const auto& [iteration, sum] : all.byIteration)
      if (builds[iteration]) {
        all.builtNs += sum.gapNs;
        ++all.built;
      }
  std::vector<std::int64_t> gaps = graph.gapNs;
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    if (!inside[node])
      continue;
    const Sums& all = sums.at(keyOf(node));
    const Sum& own = all.byIteration.at(iterationOf[node]);
    const bool isOne = builds[iterationOf[node]];
    const std::int64_t others = all.built - (isOne ? 1 : 0);
    if (others <= 0)
      continue;
    const double total = all.builtNs - (isOne ? own.gapNs : 0);
    gaps[node] += static_cast<std::int64_t>(std::llround(total / static_cast<double>(others) /
                                                         static_cast<double>(own.nodes))) -
                  *inside[node];
  }
  return gaps;
}

}  // namespace sonde::engine::replay
