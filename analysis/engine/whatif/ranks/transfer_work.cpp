#include "analysis/engine/whatif/ranks/transfer_work.h"

#include <cmath>
#include <map>
#include <utility>

namespace sonde::engine::whatif {

using graph::EdgeKind;
using graph::Graph;
using graph::LaneIndex;
using graph::NodeIndex;

namespace {

// Divides transfers into what happens at once: the time on the network, and the ranks' work.
class WorkEdits {
 public:
  WorkEdits(Scenario& scenario, const std::vector<std::int64_t>& ranks)
      : scenario_(scenario), graph_(scenario.graph()), ranks_(ranks) {
    structure_.dropped.assign(graph_.edges(), false);
    structure_.lanes.push_back({.kind = graph::LaneKind::Connection, .name = "network"});
    for (const std::int64_t rank : ranks) {
      graph::Lane made;
      for (const graph::Lane& each : graph_.lanes)
        if (each.rank == rank && each.kind == graph::LaneKind::Thread)
          made = each;
      made.id = 0;
      made.name = "transfers";
      made.background = graph::Background::Transfers;
      structure_.lanes.push_back(std::move(made));
    }
  }

  // All ranks have come in `transfer`, which gets no time of its own.
  void divide(NodeIndex transfer, std::int64_t workNs) {
    const NodeIndex network = add(0, scenario_.durNs()[transfer]);
    const NodeIndex end = add(0, 0);
    scenario_.setNode(transfer, 0, Origin::Modelled);
    addPart(transfer, network, end);
    for (std::size_t place = 0; place < ranks_.size(); ++place)
      addPart(transfer, add(static_cast<LaneIndex>(place + 1), workNs), end);
    ends_.emplace(transfer, end);
  }

  // Those that needed a transfer need its end. Errors are those of Scenario::restructure().
  Result<void> apply() {
    for (NodeIndex to = 0; to < graph_.nodes(); ++to)
      for (std::uint32_t edge = graph_.firstIn[to]; edge < graph_.firstIn[to + 1]; ++edge)
        if (const auto end = ends_.find(graph_.from[edge]); end != ends_.end()) {
          structure_.dropped[edge] = true;
          structure_.edges.push_back({end->second, to, graph_.edgeKind[edge], 0, edge});
        }
    SONDE_TRY(scenario_.restructure(structure_));
    for (const auto& [node, ns] : durations_)
      scenario_.setNode(node, ns, Origin::Modelled);
    return {};
  }

 private:
  NodeIndex add(LaneIndex lane, std::int64_t ns) {
    structure_.nodes.push_back({static_cast<LaneIndex>(graph_.lanes.size() + lane)});
    const auto node = static_cast<NodeIndex>(graph_.nodes() + structure_.nodes.size() - 1);
    durations_.emplace_back(node, ns);
    return node;
  }
  void addPart(NodeIndex begin, NodeIndex part, NodeIndex end) {
    structure_.edges.push_back({begin, part, EdgeKind::Data});
    structure_.edges.push_back({part, end, EdgeKind::Data});
  }

  Scenario& scenario_;
  const Graph& graph_;
  const std::vector<std::int64_t>& ranks_;
  Scenario::Structure structure_;
  std::map<NodeIndex, NodeIndex> ends_;  // by transfer
  std::vector<std::pair<NodeIndex, std::int64_t>> durations_;
};

}  // namespace

Result<void> addTransferWork(Scenario& scenario,
                             const std::vector<std::int64_t>& ranks,
                             std::int64_t count,
                             const std::map<std::string, NetworkModel>& networks,
                             double share) {
  WorkEdits edits(scenario, ranks);
  for (const MadeTransfer& each : scenario.setting().transfers) {
    const auto network = networks.find(each.communicator);
    if (network == networks.end())
      continue;
    const double ns = network->second.ns(costOf(each.op, each.bytes, count));
    edits.divide(each.node, std::llround(share * ns));
  }
  return edits.apply();
}

}  // namespace sonde::engine::whatif
