// Replays a graph: computes when each of its nodes begins, from their durations, gaps and lags.
// Free functions; any thread.
#pragma once

#include "analysis/engine/graph/graph.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::replay {

// Durations and gaps of a graph's nodes in ns, by node, in place of its own, and the lags of its
// edges.
struct Settings {
  const std::vector<std::int64_t>& durNs;
  const std::vector<std::int64_t>& gapNs;
  const std::vector<std::uint32_t>* lagNs = nullptr;  // by edge; null: the graph's own
};

// When each node begins, and how long it lasts, by node.
struct Times {
  std::vector<std::int64_t> beginNs;
  std::vector<std::int64_t> durNs;
};

// When each node begins, by node. A node without needs begins as measured. With the graph's own
// durations and gaps this gives the measured times exactly. O(nodes + edges).
std::vector<std::int64_t> replay(const graph::Graph& graph, const Settings& settings);

}  // namespace sonde::engine::replay
