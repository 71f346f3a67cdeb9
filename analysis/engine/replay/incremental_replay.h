// Replays a graph again after few of its durations, gaps and lags have changed: only nodes that
// begin at another time, and those that need them, are visited. Plain values; any thread.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/replay/replay.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::replay {

class IncrementalReplay {
 public:
  // Replays all of the graph. Requires: `graph` outlives this. O(nodes + edges).
  IncrementalReplay(const graph::Graph& graph, const Settings& settings);

  // When each node begins, by node.
  const std::vector<std::int64_t>& beginNs() const noexcept { return begin_; }

  // Settings that differ from the last ones for these nodes only: their durations, their gaps, or
  // the lags of their needs. Afterwards beginNs() is as of replay() with `settings`. Returns the
  // nodes that begin at another time than before, in an order in which each comes after its needs.
  // O(n log n) for n nodes that changed or need ones that did, plus their edges.
  std::vector<graph::NodeIndex> update(const Settings& settings,
                                       const std::vector<graph::NodeIndex>& changed);

 private:
  std::int64_t beginOf(const Settings& settings, graph::NodeIndex node) const;

  const graph::Graph& graph_;
  graph::Successors next_;
  std::vector<std::uint32_t> place_;  // by node: in graph_.order
  std::vector<std::int64_t> begin_;
  std::vector<bool> isDue_;  // by node; all false between updates
};

}  // namespace sonde::engine::replay
