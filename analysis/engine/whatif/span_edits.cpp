#include "analysis/engine/whatif/span_edits.h"

#include <algorithm>

namespace sonde::engine::whatif {

using graph::NodeIndex;

void scaleSpan(Scenario& scenario,
               const LaneLookup& lookup,
               graph::LaneIndex lane,
               const Span& span,
               double factor,
               Origin origin) {
  const graph::Graph& graph = scenario.graph();
  const auto [first, last] = lookup.rangeOf(lane);
  NodeIndex node = lookup.beginsFrom(lane, span.beginNs);
  if (node > first)
    --node;
  for (; node < last && graph.beginNs[node] < span.endNs; ++node)
    if (graph.endNs(node) > span.beginNs)
      scenario.scale(node,
                     std::max(graph.beginNs[node], span.beginNs),
                     std::min(graph.endNs(node), span.endNs),
                     factor,
                     origin);
}

void scaleLane(Scenario& scenario,
               const LaneLookup& lookup,
               graph::LaneIndex lane,
               double factor,
               Origin origin) {
  const auto [first, last] = lookup.rangeOf(lane);
  for (NodeIndex node = first; node < last; ++node)
    scenario.scale(
        node, scenario.graph().beginNs[node], scenario.graph().endNs(node), factor, origin);
}

double presentNs(const Scenario& scenario, std::span<const SelectedPart> parts) {
  double sum = 0;
  for (const SelectedPart& part : parts)
    sum += scenario.lengthNs(part.node, part.beginNs, part.endNs);
  return sum;
}

void setParts(Scenario& scenario, std::span<const SelectedPart> parts, double ns, Origin origin) {
  const double present = presentNs(scenario, parts);
  double measured = 0;
  for (const SelectedPart& part : parts)
    measured += static_cast<double>(part.lengthNs());
  if (measured <= 0)
    return;
  for (const SelectedPart& part : parts) {
    const double share = present > 0
                             ? scenario.lengthNs(part.node, part.beginNs, part.endNs) / present
                             : static_cast<double>(part.lengthNs()) / measured;
    scenario.setStretch(part.node, part.beginNs, part.endNs, ns * share, origin);
  }
}

}  // namespace sonde::engine::whatif
