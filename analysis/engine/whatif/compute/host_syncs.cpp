#include "analysis/engine/whatif/compute/host_syncs.h"

#include "analysis/engine/replay/iteration_nodes.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using graph::LaneIndex;
using graph::NodeIndex;

// The nodes of threads that waited for a device, by iteration and thread, in order.
using Waits = std::map<std::pair<std::uint32_t, LaneIndex>, std::vector<NodeIndex>>;

bool isSync(const graph::Graph& graph, std::uint32_t edge, NodeIndex to) {
  return graph.edgeKind[edge] == graph::EdgeKind::Sync &&
         graph.lanes[graph.lane[to]].kind == graph::LaneKind::Thread;
}

Waits waitsOf(const graph::TraceGraph& job) {
  const graph::Graph& graph = job.graph;
  const std::vector<std::uint32_t> iterationOf =
      replay::iterationOfNodes(graph, replay::jobIterations(job));
  Waits found;
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    bool waits = false;
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
      waits = waits || isSync(graph, edge, node);
    if (waits && iterationOf[node] != replay::kNoIteration)
      found[{iterationOf[node], graph.lane[node]}].push_back(node);
  }
  return found;
}

}  // namespace

Question noHostSyncs() {
  return [](Asking& asking) -> Result<void> {
    const graph::TraceGraph& job = asking.scenario.job();
    std::set<NodeIndex> removed;
    for (const auto& [key, nodes] : waitsOf(job))
      removed.insert(nodes.begin(), nodes.end() - 1);
    if (removed.empty())
      return notFound(
          "no thread waits more than once in an iteration for its device, so there is no "
          "synchronisation that could be left out");
    Scenario::Structure structure;
    structure.dropped.assign(job.graph.edges(), false);
    for (const NodeIndex node : removed)
      for (std::uint32_t edge = job.graph.firstIn[node]; edge < job.graph.firstIn[node + 1]; ++edge)
        if (isSync(job.graph, edge, node))
          structure.dropped[edge] = true;
    SONDE_TRY(asking.scenario.restructure(structure));
    asking.notes.push_back(fmt::format(
        "{} waits of threads for their devices are left out; the last one of each iteration stays. "
        "This assumes that the program needs no result of a device in between",
        removed.size()));
    return {};
  };
}

}  // namespace sonde::engine::whatif
