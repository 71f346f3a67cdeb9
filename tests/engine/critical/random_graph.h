// Random graphs for tests of paths.
#pragma once

#include "analysis/engine/graph/graph_builder.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace sonde::engine::critical {

// A graph of up to twelve nodes whose needs, lags and gaps are random.
inline graph::Graph randomGraph(std::mt19937& random) {
  const auto upTo = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  graph::GraphBuilder builder;
  const graph::LaneIndex lane = builder.addLane({});
  const int count = 2 + upTo(10);
  std::vector<std::int64_t> ends;
  for (int node = 0; node < count; ++node) {
    std::int64_t begin = 0;
    std::vector<std::pair<int, int>> needs;  // node, lag
    for (int from = 0; from < node; ++from)
      if (from == 0 || upTo(2) == 0) {
        needs.emplace_back(from, upTo(1) * upTo(9));
        begin = std::max(begin, ends[static_cast<std::size_t>(from)] + needs.back().second);
      }
    begin += node == 0 ? 0 : upTo(2) * upTo(4);
    const int length = upTo(20);
    ends.push_back(begin + length);
    const graph::NodeIndex made = builder.addNode(lane, graph::NodeKind::Host, begin, length);
    for (const auto& [from, lag] : needs)
      builder.addEdge(static_cast<graph::NodeIndex>(from), made, graph::EdgeKind::Order, lag);
  }
  return std::move(*builder.build());
}

}  // namespace sonde::engine::critical
