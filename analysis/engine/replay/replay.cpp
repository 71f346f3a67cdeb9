#include "analysis/engine/replay/replay.h"

#include <algorithm>

namespace sonde::engine::replay {

using graph::Graph;
using graph::NodeIndex;

std::vector<std::int64_t> replay(const Graph& graph, const Settings& settings) {
  std::vector<std::int64_t> begin(graph.nodes());
  const std::vector<std::uint32_t>& lagNs =
      settings.lagNs == nullptr ? graph.lagNs : *settings.lagNs;
  for (const NodeIndex node : graph.order) {
    std::uint32_t edge = graph.firstIn[node];
    const std::uint32_t last = graph.firstIn[node + 1];
    if (edge == last) {
      begin[node] = graph.beginNs[node];
      continue;
    }
    const auto ready = [&](std::uint32_t in) {
      const NodeIndex from = graph.from[in];
      return begin[from] + settings.durNs[from] + lagNs[in];
    };
    std::int64_t latest = ready(edge);
    while (++edge < last)
      latest = std::max(latest, ready(edge));
    begin[node] = latest + settings.gapNs[node];
  }
  return begin;
}

}  // namespace sonde::engine::replay
