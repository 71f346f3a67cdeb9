#include "analysis/engine/whatif/network/retimed_collectives.h"

#include "analysis/engine/whatif/transfer_edits.h"

#include <algorithm>
#include <cmath>

namespace sonde::engine::whatif {
namespace {

// nullopt: no rank's kernel has a transfer of its own.
std::optional<double> presentNs(const Scenario& scenario,
                                const TransferEdits& edits,
                                const JobCollective& of) {
  double sum = 0;
  std::int64_t count = 0;
  for (const CollectivePart& part : of.parts)
    if (const graph::NodeIndex transfer = edits.transferOf(part); transfer != graph::kNoNode) {
      sum += static_cast<double>(scenario.durNs()[transfer]);
      ++count;
    }
  return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

double callFactor(const Scenario& scenario, const TransferEdits& edits, const JobCollective& of) {
  const graph::Graph& graph = scenario.graph();
  double now = 0;
  double measured = 0;
  for (const CollectivePart& part : of.parts) {
    const auto [begin, end] = edits.lookup().rangeOf(part.lane);
    graph::NodeIndex node = edits.lookup().beginsFrom(part.lane, part.beginNs);
    for (node -= node > begin ? 1 : 0; node < end && graph.beginNs[node] < part.endNs; ++node) {
      const std::int64_t from = std::max(graph.beginNs[node], part.beginNs);
      const std::int64_t until = std::min(graph.endNs(node), part.endNs);
      if (from >= until)
        continue;
      now += scenario.lengthNs(node, from, until);
      measured += static_cast<double>(until - from);
    }
  }
  return measured > 0 ? now / measured : 1;
}

}  // namespace

Result<std::int64_t> retime(
    Scenario& scenario,
    const std::vector<JobCollective>& all,
    const std::function<std::optional<double>(const MovedBytes& moved)>& nsOf) {
  for (const MadeTransfer& each : scenario.setting().transfers)
    if (const auto ns = nsOf({each.communicator,
                              each.op,
                              each.bytes,
                              each.ranks,
                              static_cast<double>(scenario.durNs()[each.node])}))
      scenario.setNode(each.node, std::llround(*ns), Origin::Modelled);
  TransferEdits edits(scenario);
  std::int64_t kept = 0;
  for (const JobCollective& each : all) {
    if (edits.isReplaced(each))
      continue;
    MovedBytes moved{each.communicator, each.op, each.bytes, each.ranks};
    if (each.isOnDevice)
      moved.presentNs = presentNs(scenario, edits, each);
    else
      moved.callFactor = callFactor(scenario, edits, each);
    const auto ns = nsOf(moved);
    if (!ns || !edits.set(each, *ns, Origin::Modelled))
      ++kept;
  }
  SONDE_TRY(edits.apply());
  return kept;
}

}  // namespace sonde::engine::whatif
