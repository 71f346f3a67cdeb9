#include "analysis/engine/whatif/transfer_edits.h"

#include <algorithm>
#include <cmath>

namespace sonde::engine::whatif {

using graph::EdgeKind;
using graph::NodeIndex;
using graph::NodeKind;

TransferEdits::TransferEdits(Scenario& scenario) : scenario_(scenario), lookup_(scenario.graph()) {}

bool TransferEdits::set(const JobCollective& collective, double ns, Origin origin) {
  if (collective.isOnDevice)
    return setOnDevice(collective, ns, origin);
  replaceCalls(collective, ns, origin);
  return true;
}

bool TransferEdits::setOnDevice(const JobCollective& collective, double ns, Origin origin) {
  const graph::Graph& graph = scenario_.graph();
  bool isSet = false;
  for (const CollectivePart& part : collective.parts) {
    const NodeIndex kernel = lookup_.beginsFrom(part.lane, part.beginNs);
    const NodeIndex transfer = kernel + 1;
    if (transfer >= lookup_.rangeOf(part.lane).second ||
        graph.kind[transfer] != NodeKind::Transfer || graph.row[transfer] != graph.row[kernel])
      continue;
    scenario_.setNode(transfer, std::llround(ns), origin);
    isSet = true;
  }
  return isSet;
}

bool TransferEdits::isOfTransfer(std::uint32_t edge) const {
  const graph::Graph& graph = scenario_.graph();
  return graph.edgeKind[edge] == EdgeKind::Message || graph.edgeKind[edge] == EdgeKind::Release ||
         graph.lanes[graph.lane[graph.from[edge]]].background == graph::Background::Transfers;
}

NodeIndex TransferEdits::addNode() {
  const graph::Graph& graph = scenario_.graph();
  structure_.nodes.push_back(static_cast<graph::LaneIndex>(graph.lanes.size()));
  return static_cast<NodeIndex>(graph.nodes() + structure_.nodes.size() - 1);
}

// The call takes no time of its own, and waits for nothing but the new transfer.
void TransferEdits::replaceCall(const CollectivePart& part, NodeIndex transfer) {
  const graph::Graph& graph = scenario_.graph();
  const auto [begin, end] = lookup_.rangeOf(part.lane);
  const NodeIndex first = lookup_.beginsFrom(part.lane, part.beginNs);
  const bool isInside = first > begin && graph.endNs(first - 1) > part.beginNs;
  if (isInside) {
    scenario_.scale(first - 1, part.beginNs, part.endNs, 0, Origin::Measured);
    structure_.edges.push_back({first - 1, transfer, EdgeKind::Arrival});
  } else if (first < end) {
    const NodeIndex arrival = addNode();
    const std::int64_t gap = std::max<std::int64_t>(graph.gapNs[first], 0);
    for (std::uint32_t edge = graph.firstIn[first]; edge < graph.firstIn[first + 1]; ++edge)
      if (!isOfTransfer(edge))
        structure_.edges.push_back(
            {graph.from[edge], arrival, graph.edgeKind[edge], graph.lagNs[edge] + gap});
    structure_.edges.push_back({arrival, transfer, EdgeKind::Arrival});
  }
  if (first < end)
    structure_.edges.push_back({transfer, first, EdgeKind::Release});
  // The call may return in a node that begins with its end.
  for (NodeIndex node = first; node < end && graph.beginNs[node] <= part.endNs; ++node) {
    if (graph.beginNs[node] < part.endNs) {
      scenario_.scale(node, graph.beginNs[node], part.endNs, 0, Origin::Measured);
      scenario_.setGap(node, 0);
      isReplaced_[node] = true;
    }
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
      if (isOfTransfer(edge))
        structure_.dropped[edge] = true;
  }
}

// Nobody waits any longer for what the calls sent.
void TransferEdits::dropMessages() {
  const graph::Graph& graph = scenario_.graph();
  for (std::uint32_t edge = 0; edge < graph.edges(); ++edge)
    if (graph.edgeKind[edge] == EdgeKind::Message && isReplaced_[graph.from[edge]])
      structure_.dropped[edge] = true;
}

void TransferEdits::replaceCalls(const JobCollective& collective, double ns, Origin origin) {
  if (structure_.lanes.empty()) {
    structure_.lanes.push_back({.kind = graph::LaneKind::Connection, .name = "network"});
    structure_.dropped.assign(scenario_.graph().edges(), false);
    isReplaced_.assign(scenario_.graph().nodes(), false);
  }
  const NodeIndex transfer = addNode();
  transfers_.push_back({transfer, std::llround(ns), origin});
  for (const CollectivePart& part : collective.parts)
    replaceCall(part, transfer);
  const auto [before, isFirst] = last_.emplace(collective.communicator, transfer);
  if (!isFirst) {
    structure_.edges.push_back({before->second, transfer, EdgeKind::Order});
    before->second = transfer;
  }
}

Result<void> TransferEdits::apply() {
  if (structure_.nodes.empty())
    return {};
  dropMessages();
  SONDE_TRY(scenario_.restructure(structure_));
  for (const NewTransfer& each : transfers_)
    scenario_.setNode(each.node, each.ns, each.origin);
  return {};
}

}  // namespace sonde::engine::whatif
