#include "analysis/engine/whatif/no_stragglers.h"

#include "analysis/engine/operations/operation_graph.h"
#include "analysis/engine/operations/slowdown.h"
#include "analysis/engine/stragglers/stragglers.h"
#include "analysis/engine/stragglers/trace_work.h"
#include "analysis/engine/whatif/selection.h"

#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using graph::NodeIndex;

// Which nodes and messages a question is about.
struct Affected {
  std::vector<bool> nodes;
  std::vector<bool> edges;
};

Result<void> mark(Asking& asking, const Selector& selector, bool value, Affected& affected) {
  SONDE_TRY_ASSIGN(const Selection found, select(asking.trace, asking.scenario.job(), selector));
  for (const SelectedPart& part : found.parts)
    affected.nodes[part.node] = value;
  for (const std::uint32_t edge : found.messages)
    affected.edges[edge] = value;
  return {};
}

Result<Affected> affectedBy(Asking& asking, const NoStragglers& of) {
  const graph::Graph& graph = asking.scenario.graph();
  Affected affected{std::vector<bool>(graph.nodes(), !of.only),
                    std::vector<bool>(graph.edges(), !of.only)};
  if (of.only)
    SONDE_TRY(mark(asking, *of.only, true, affected));
  if (of.keep)
    SONDE_TRY(mark(asking, *of.keep, false, affected));
  return affected;
}

Result<stragglers::PeerTimes> timesWithoutStragglers(const store::Database& trace,
                                                     const graph::TraceGraph& job) {
  SONDE_TRY_ASSIGN(const bool hasOperations, operations::isOperationLevel(trace));
  if (hasOperations) {
    SONDE_TRY_ASSIGN(const operations::OperationGraph graph, operations::readOperationGraph(trace));
    return stragglers::PeerTimes{operations::idealDurations(graph), job.graph.lagNs};
  }
  SONDE_TRY_ASSIGN(const stragglers::Work work, stragglers::workOf(trace, job));
  if (work.steps.empty())
    return notFound(
        "stragglers are ranks that are slower than others over the iterations: the trace has none");
  if (work.ranks.size() < 2)
    return notFound("stragglers are ranks that are slower than others: the trace has one rank");
  return stragglers::timesOfPeers(work);
}

}  // namespace

Question noStragglers(NoStragglers of) {
  return [of = std::move(of)](Asking& asking) -> Result<void> {
    Scenario& scenario = asking.scenario;
    const graph::Graph& graph = scenario.graph();
    SONDE_TRY_ASSIGN(const Affected affected, affectedBy(asking, of));
    SONDE_TRY_ASSIGN(const stragglers::PeerTimes peers,
                     timesWithoutStragglers(asking.trace, scenario.job()));
    for (NodeIndex node = 0; node < peers.durNs.size(); ++node)
      if (affected.nodes[node] && peers.durNs[node] != graph.durNs[node] && graph.durNs[node] > 0)
        scenario.scale(
            node,
            graph.beginNs[node],
            graph.endNs(node),
            static_cast<double>(peers.durNs[node]) / static_cast<double>(graph.durNs[node]),
            Origin::Scaled);
    for (std::uint32_t edge = 0; edge < peers.lagNs.size(); ++edge)
      if (affected.edges[edge] && peers.lagNs[edge] != graph.lagNs[edge] && graph.lagNs[edge] > 0)
        scenario.setLag(
            edge,
            static_cast<double>(scenario.lagNs()[edge]) * peers.lagNs[edge] / graph.lagNs[edge],
            Origin::Scaled);
    return {};
  };
}

}  // namespace sonde::engine::whatif
