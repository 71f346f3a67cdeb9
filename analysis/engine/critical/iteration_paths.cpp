#include "analysis/engine/critical/iteration_paths.h"

#include <algorithm>
#include <map>

namespace sonde::engine::critical {
namespace {

using graph::Graph;
using graph::IterationNodes;
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

// By number, the rank that ended it last.
std::vector<IterationPath> lastOnes(const graph::TraceGraph& trace,
                                    std::optional<std::int64_t> only) {
  const bool haveUnmasked = std::any_of(trace.iterations.begin(),
                                        trace.iterations.end(),
                                        [](const auto& each) { return !each.isMasked; });
  std::map<std::int64_t, IterationPath> found;
  for (const IterationNodes& each : trace.iterations) {
    if ((haveUnmasked && each.isMasked && only != each.number) || (only && *only != each.number))
      continue;
    const std::int64_t end = trace.graph.endNs(each.last);
    const auto [place, isNew] = found.try_emplace(each.number);
    if (isNew || end > place->second.endNs)
      place->second = {each.number, each.rank, each.last, trace.graph.beginNs[each.first], end, {}};
  }
  std::vector<IterationPath> paths;
  for (auto& [number, path] : found)
    paths.push_back(std::move(path));
  return paths;
}

}  // namespace

std::vector<IterationPath> pathsOf(const graph::TraceGraph& trace,
                                   std::optional<std::int64_t> only) {
  std::vector<IterationPath> paths = lastOnes(trace, only);
  if (paths.empty() && !only && trace.graph.nodes() > 0)
    paths.push_back(wholeTrace(trace.graph));
  for (IterationPath& each : paths)
    each.path = criticalPath(
        trace.graph, {trace.graph.beginNs, trace.graph.durNs}, each.last, each.beginNs);
  return paths;
}

}  // namespace sonde::engine::critical
