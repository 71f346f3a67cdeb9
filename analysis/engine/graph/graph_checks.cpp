#include "analysis/engine/graph/graph_checks.h"

#include "analysis/engine/graph/collective_checks.h"
#include "analysis/engine/graph/rank_checks.h"

#include <algorithm>
#include <vector>

namespace sonde::engine::graph {

Result<void> addChecks(const store::Database& trace, const BuildFaults& faults, TraceGraph& into) {
  const Graph& graph = into.graph;
  Check times{"times",
              faults.early.count,
              faults.early.worstNs,
              "waits that ended before what they waited for had come"};
  Check roots{"reachable",
              0,
              0,
              "threads or streams that begin without a recorded cause, as main threads do"};
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    if (graph.gapNs[node] < 0) {
      ++times.violations;
      times.worstNs = std::max(times.worstNs, -graph.gapNs[node]);
    }
    roots.violations += graph.firstIn[node] == graph.firstIn[node + 1] ? 1 : 0;
  }
  const Check circles{"circles", faults.circles, 0, "needs of instants for each other, left out"};
  into.checks = {times, circles, roots};
  SONDE_TRY_ASSIGN(const std::vector<Check> collectives, collectiveChecks(trace));
  SONDE_TRY_ASSIGN(const std::vector<Check> ranks, rankChecks(trace, into.iterations));
  into.checks.insert(into.checks.end(), collectives.begin(), collectives.end());
  into.checks.insert(into.checks.end(), ranks.begin(), ranks.end());
  return {};
}

}  // namespace sonde::engine::graph
