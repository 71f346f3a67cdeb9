// When instants of threads are in a replay: those in a node keep their place in it, in proportion
// to its length. Plain values; any thread.
#pragma once

#include "analysis/engine/critical/critical_path.h"
#include "analysis/engine/graph/graph.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::footprint {

class MovedTimes {
 public:
  // `times`: of a replay of the graph. Requires: both outlive this.
  MovedTimes(const graph::Graph& graph, const critical::Times& times);

  // By how much later than measured a thread comes to a time of the job's clock. Between two nodes
  // it moves with both, in proportion; before the first and after the last one with that. 0: the
  // graph does not have the thread.
  std::int64_t shiftOf(std::int64_t threadId, std::int64_t jobNs) const;
  // The last node that the thread had begun by then; kNoNode: none.
  graph::NodeIndex nodeAt(std::int64_t threadId, std::int64_t jobNs) const;

 private:
  std::int64_t endNs(graph::NodeIndex node) const {
    return times_.beginNs[node] + times_.durNs[node];
  }

  const graph::Graph& graph_;
  critical::Times times_;
  std::unordered_map<std::int64_t, std::vector<graph::NodeIndex>> nodes_;  // by thread, by begin
};

}  // namespace sonde::engine::footprint
