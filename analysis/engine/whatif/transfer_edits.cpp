#include "analysis/engine/whatif/transfer_edits.h"

#include <algorithm>
#include <cmath>

namespace sonde::engine::whatif {

using graph::EdgeKind;
using graph::kNoNode;
using graph::LaneIndex;
using graph::NodeIndex;
using graph::NodeKind;

TransferEdits::TransferEdits(Scenario& scenario) : scenario_(scenario), lookup_(scenario.graph()) {}

bool TransferEdits::isReplaced(const JobCollective& collective) const {
  return scenario_.setting().replaced.contains(collective.key());
}

bool TransferEdits::set(const JobCollective& collective, double ns, Origin origin) {
  if (collective.isOnDevice) {
    bool isSet = false;
    for (const CollectivePart& part : collective.parts)
      if (const NodeIndex transfer = transferOf(part); transfer != kNoNode) {
        scenario_.setNode(transfer, std::llround(ns), origin);
        isSet = true;
      }
    return isSet;
  }
  const NodeIndex transfer = add(collective, collective.bytes, ns, origin);
  for (const CollectivePart& part : collective.parts) {
    needsCall(transfer, part);
    replace(collective, part, transfer);
  }
  return true;
}

NodeIndex TransferEdits::transferOf(const CollectivePart& part) const {
  const graph::Graph& graph = scenario_.graph();
  const NodeIndex kernel = lookup_.beginsFrom(part.lane, part.beginNs);
  const NodeIndex transfer = kernel + 1;
  const bool isOne = transfer < lookup_.rangeOf(part.lane).second &&
                     graph.kind[transfer] == NodeKind::Transfer &&
                     graph.row[transfer] == graph.row[kernel];
  return isOne ? transfer : kNoNode;
}

bool TransferEdits::isOfTransfer(std::uint32_t edge) const {
  const graph::Graph& graph = scenario_.graph();
  return graph.edgeKind[edge] == EdgeKind::Message || graph.edgeKind[edge] == EdgeKind::Release ||
         graph.lanes[graph.lane[graph.from[edge]]].background == graph::Background::Transfers;
}

NodeIndex TransferEdits::addNode() {
  const graph::Graph& graph = scenario_.graph();
  if (structure_.lanes.empty()) {
    structure_.lanes.push_back({.kind = graph::LaneKind::Connection, .name = "network"});
    structure_.dropped.assign(graph.edges(), false);
    isInCall_.assign(graph.nodes(), false);
  }
  structure_.nodes.push_back({static_cast<LaneIndex>(graph.lanes.size())});
  return static_cast<NodeIndex>(graph.nodes() + structure_.nodes.size() - 1);
}

NodeIndex TransferEdits::add(const JobCollective& of,
                             std::int64_t bytes,
                             double ns,
                             Origin origin) {
  const NodeIndex transfer = addNode();
  transfers_.push_back(
      {{transfer, of.communicator, of.op, bytes, of.ranks}, std::llround(ns), origin});
  const auto [before, isFirst] = last_.emplace(of.communicator, transfer);
  if (!isFirst) {
    structure_.edges.push_back({before->second, transfer, EdgeKind::Order});
    before->second = transfer;
  }
  return transfer;
}

void TransferEdits::needs(NodeIndex transfer, LaneIndex lane, std::int64_t ns) {
  const NodeIndex before = lookup_.endedBy(lane, ns);
  if (before != kNoNode)
    structure_.edges.push_back(
        {before, transfer, EdgeKind::Arrival, ns - scenario_.graph().endNs(before)});
}

void TransferEdits::delays(NodeIndex transfer, NodeIndex node) {
  structure_.edges.push_back({transfer, node, EdgeKind::Data});
}

// It begins when the call has begun: in the node that the call begins in, or once that node's own
// needs are met.
void TransferEdits::needsCall(NodeIndex transfer, const CollectivePart& part) {
  const graph::Graph& graph = scenario_.graph();
  const auto [begin, end] = lookup_.rangeOf(part.lane);
  const NodeIndex first = lookup_.beginsFrom(part.lane, part.beginNs);
  if (first > begin && graph.endNs(first - 1) > part.beginNs) {
    structure_.edges.push_back({first - 1, transfer, EdgeKind::Arrival});
    return;
  }
  if (first >= end)
    return;
  const NodeIndex arrival = addNode();
  const std::int64_t gap = std::max<std::int64_t>(graph.gapNs[first], 0);
  for (std::uint32_t edge = graph.firstIn[first]; edge < graph.firstIn[first + 1]; ++edge)
    if (!isOfTransfer(edge))
      structure_.edges.push_back(
          {graph.from[edge], arrival, graph.edgeKind[edge], graph.lagNs[edge] + gap});
  structure_.edges.push_back({arrival, transfer, EdgeKind::Arrival});
}

void TransferEdits::replace(const JobCollective& collective,
                            const CollectivePart& part,
                            NodeIndex transfer) {
  replaced_.insert(collective.key());
  if (!collective.isOnDevice) {
    clearCall(part, transfer);
    return;
  }
  const NodeIndex old = transferOf(part);
  if (old == kNoNode)
    return;
  scenario_.setNode(old, 0, Origin::Measured);
  structure_.edges.push_back({transfer, old, EdgeKind::Release});
}

// The call takes no time of its own, and waits for nothing but the transfer.
void TransferEdits::clearCall(const CollectivePart& part, NodeIndex transfer) {
  const graph::Graph& graph = scenario_.graph();
  const auto [begin, end] = lookup_.rangeOf(part.lane);
  const NodeIndex first = lookup_.beginsFrom(part.lane, part.beginNs);
  if (first > begin && graph.endNs(first - 1) > part.beginNs)
    scenario_.scale(first - 1, part.beginNs, part.endNs, 0, Origin::Measured);
  if (first < end)
    structure_.edges.push_back({transfer, first, EdgeKind::Data});
  // The call may return in a node that begins with its end.
  for (NodeIndex node = first; node < end && graph.beginNs[node] <= part.endNs; ++node) {
    if (graph.beginNs[node] < part.endNs) {
      scenario_.scale(node, graph.beginNs[node], part.endNs, 0, Origin::Measured);
      scenario_.setGap(node, 0);
      isInCall_[node] = true;
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
    if (graph.edgeKind[edge] == EdgeKind::Message && isInCall_[graph.from[edge]])
      structure_.dropped[edge] = true;
}

Result<void> TransferEdits::apply() {
  if (structure_.nodes.empty())
    return {};
  dropMessages();
  SONDE_TRY(scenario_.restructure(structure_));
  for (const NewTransfer& each : transfers_) {
    scenario_.setNode(each.of.node, each.ns, each.origin);
    scenario_.setting().transfers.push_back(each.of);
  }
  scenario_.setting().replaced.merge(replaced_);
  return {};
}

}  // namespace sonde::engine::whatif
