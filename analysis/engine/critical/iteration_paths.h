// The critical path of each iteration of a job. Free functions; any thread.
#pragma once

#include "analysis/engine/critical/critical_path.h"
#include "analysis/engine/graph/trace_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::critical {

// An iteration of the rank that ended it last, or the whole trace.
struct IterationPath {
  std::optional<std::int64_t> number;  // none: the whole trace
  std::int64_t rank = -1;              // that ended it last; -1: none
  graph::NodeIndex last = graph::kNoNode;
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  bool isWhole = true;        // as of JobIteration
  std::vector<Element> path;  // sums to endNs - beginNs

  std::int64_t lengthNs() const noexcept { return endNs - beginNs; }
};

// As jobIterations() of the graph has them. Leaves out masked iterations, unless all are. A trace
// without iterations counts as one from its first begin to its last end. `only`: those of that
// number; the result is empty if there is no such iteration.
std::vector<IterationPath> pathsOf(const graph::TraceGraph& trace,
                                   std::optional<std::int64_t> only = std::nullopt);

}  // namespace sonde::engine::critical
