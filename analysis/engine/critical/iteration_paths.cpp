#include "analysis/engine/critical/iteration_paths.h"

#include "analysis/engine/graph/job_iterations.h"

#include <algorithm>

namespace sonde::engine::critical {
namespace {

using graph::Graph;
using graph::IterationNodes;
using graph::JobIteration;
using graph::NodeIndex;

IterationPath wholeTrace(const Graph& graph) {
  IterationPath whole;
  whole.beginNs = *std::min_element(graph.beginNs.begin(), graph.beginNs.end());
  whole.last = 0;
  for (NodeIndex node = 1; node < graph.nodes(); ++node)
    if (graph.endNs(node) > graph.endNs(whole.last))
      whole.last = node;
  whole.endNs = graph.endNs(whole.last);
  whole.rank = graph.lanes[graph.lane[whole.last]].rank;
  return whole;
}

IterationPath lastOf(const Graph& graph, const JobIteration& iteration) {
  IterationPath found;
  found.number = iteration.number;
  found.isWhole = iteration.isWhole;
  for (const IterationNodes& each : iteration.ranks) {
    const std::int64_t end = graph.endNs(each.last);
    if (found.last != graph::kNoNode && end <= found.endNs)
      continue;
    found.rank = each.rank;
    found.last = each.last;
    found.beginNs = graph.beginNs[each.first];
    found.endNs = end;
  }
  return found;
}

}  // namespace

std::vector<IterationPath> pathsOf(const graph::TraceGraph& trace,
                                   std::optional<std::int64_t> only) {
  std::vector<IterationPath> paths;
  for (const JobIteration& each : graph::jobIterations(trace, only))
    paths.push_back(lastOf(trace.graph, each));
  if (paths.empty() && !only && trace.graph.nodes() > 0)
    paths.push_back(wholeTrace(trace.graph));
  for (IterationPath& each : paths)
    each.path = criticalPath(
        trace.graph, {trace.graph.beginNs, trace.graph.durNs}, each.last, each.beginNs);
  return paths;
}

}  // namespace sonde::engine::critical
