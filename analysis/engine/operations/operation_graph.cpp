#include "analysis/engine/operations/operation_graph.h"

#include "analysis/engine/graph/graph_builder.h"
#include "analysis/engine/operations/step_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde::engine::operations {
namespace {

using graph::EdgeKind;
using graph::kNoNode;
using graph::LaneIndex;
using graph::NodeIndex;
using graph::NodeKind;
using model::OperationType;

constexpr std::int64_t kApartNs = 1'000'000;

class Builder {
 public:
  explicit Builder(const OperationRows& rows) : rows_(rows) {
    made_.workers = rows.workers;
    made_.stages = rows.stages;
    made_.unknown = rows.unknown;
    made_.stepless = rows.stepless;
    meetings_ = builder_.addLane({.kind = graph::LaneKind::Meetings});
  }

  Result<OperationGraph> build() {
    for (const Step& step : rows_.steps)
      addStep(step);
    SONDE_TRY_ASSIGN(made_.graph, builder_.build());
    return std::move(made_);
  }

 private:
  NodeIndex addNode(LaneIndex lane, NodeKind kind, std::int64_t beginNs, const Operation* row) {
    made_.operations.push_back(row == nullptr ? NodeOperation()
                                              : NodeOperation{row->worker, row->type});
    hasNeeds_.push_back(false);
    isNeeded_.push_back(false);
    return builder_.addNode(
        lane, kind, beginNs, row == nullptr ? 0 : row->durNs, row == nullptr ? 0 : row->sliceId);
  }
  void addEdge(NodeIndex from, NodeIndex to, EdgeKind kind) {
    builder_.addEdge(from, to, kind);
    hasNeeds_[to] = true;
    isNeeded_[from] = true;
  }

  void addStep(const Step& step);
  void addOperations(const Step& step, const StepNeeds& needs);
  void addMeeting(const Step& step, const std::vector<std::uint32_t>& members);
  LaneIndex laneOf(const Operation& operation);
  std::string nameOf(const Operation& operation) const;

  const OperationRows& rows_;
  OperationGraph made_;
  graph::GraphBuilder builder_;
  LaneIndex meetings_;
  // By thread and type of send or receive; one for all other types.
  std::map<std::pair<std::int64_t, OperationType>, LaneIndex> lanes_;
  std::vector<bool> hasNeeds_;  // by node
  std::vector<bool> isNeeded_;  // by node
  // By operation of the current step: its node, and the node that its needs lead to.
  std::vector<NodeIndex> nodes_;
  std::vector<NodeIndex> arrivals_;
};

bool isTransfer(OperationType type) {
  return type == OperationType::ForwardSend || type == OperationType::ForwardReceive ||
         type == OperationType::BackwardSend || type == OperationType::BackwardReceive;
}

// The worker, and what the lane does.
std::string Builder::nameOf(const Operation& operation) const {
  const Worker& worker = rows_.workers[operation.worker];
  const std::string_view does = isTransfer(operation.type)               ? word(operation.type)
                                : model::isCommunication(operation.type) ? "communication"
                                                                         : "computing";
  return fmt::format(
      "stage {} of data-parallel rank {}, {}", worker.stage, worker.dataParallel, does);
}

LaneIndex Builder::laneOf(const Operation& operation) {
  const OperationType type = isTransfer(operation.type) ? operation.type : OperationType::Forward;
  const auto found = lanes_.find({operation.threadId, type});
  if (found != lanes_.end())
    return found->second;
  const Worker& worker = rows_.workers[operation.worker];
  const LaneIndex lane = builder_.addLane({.kind = graph::LaneKind::Thread,
                                           .id = operation.threadId,
                                           .processId = worker.processId,
                                           .hostId = worker.hostId,
                                           .rank = worker.rank,
                                           .name = nameOf(operation)});
  lanes_.emplace(std::pair(operation.threadId, type), lane);
  return lane;
}

void Builder::addStep(const Step& step) {
  const StepNeeds needs = needsOf(rows_, step);
  made_.unpaired += needs.unpaired;
  StepNodes nodes;
  nodes.number = step.number;
  nodes.anchor = addNode(meetings_, NodeKind::Anchor, step.operations.front().beginNs, nullptr);
  addOperations(step, needs);
  for (const std::vector<std::uint32_t>& members : needs.meetings)
    addMeeting(step, members);
  for (const Need& each : needs.needs) {
    const bool isMet = arrivals_[each.to] != nodes_[each.to];
    addEdge(nodes_[each.from],
            arrivals_[each.to],
            isMet          ? EdgeKind::Arrival
            : each.isOrder ? EdgeKind::Order
                           : EdgeKind::Data);
  }
  const auto behind = static_cast<NodeIndex>(made_.operations.size());
  for (NodeIndex node = nodes.anchor + 1; node < behind; ++node)
    if (!hasNeeds_[node])
      addEdge(nodes.anchor, node, EdgeKind::Order);
  std::int64_t lastNs = builder_.soFar().beginNs[nodes.anchor];
  for (NodeIndex node = nodes.anchor; node < behind; ++node)
    lastNs = std::max(lastNs, builder_.soFar().endNs(node));
  nodes.last = addNode(meetings_, NodeKind::Meeting, lastNs, nullptr);
  nodes.end = nodes.last + 1;
  for (NodeIndex node = nodes.anchor; node < behind; ++node)
    if (!isNeeded_[node])
      addEdge(node, nodes.last, EdgeKind::Arrival);
  made_.steps.push_back(nodes);
}

void Builder::addOperations(const Step& step, const StepNeeds& needs) {
  nodes_.assign(step.operations.size(), kNoNode);
  for (std::size_t index = 0; index < step.operations.size(); ++index) {
    if (needs.isLeftOut[index])
      continue;
    const Operation& each = step.operations[index];
    const NodeKind kind = isCommunication(each.type) ? NodeKind::Transfer : NodeKind::Host;
    nodes_[index] = addNode(laneOf(each), kind, each.beginNs, &each);
  }
  arrivals_ = nodes_;
}

void Builder::addMeeting(const Step& step, const std::vector<std::uint32_t>& members) {
  std::int64_t firstNs = step.operations[members.front()].beginNs;
  std::int64_t lastNs = firstNs;
  for (const std::uint32_t member : members) {
    firstNs = std::min(firstNs, step.operations[member].beginNs);
    lastNs = std::max(lastNs, step.operations[member].beginNs);
  }
  made_.apart += lastNs - firstNs > kApartNs ? 1 : 0;
  made_.mostApartNs = std::max(made_.mostApartNs, lastNs - firstNs);
  const NodeIndex meeting = addNode(meetings_, NodeKind::Meeting, lastNs, nullptr);
  for (const std::uint32_t member : members) {
    addEdge(meeting, nodes_[member], EdgeKind::Release);
    arrivals_[member] = meeting;
  }
}

}  // namespace

Result<OperationGraph> graphOf(const OperationRows& rows) {
  return Builder(rows).build();
}

Result<OperationGraph> readOperationGraph(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const OperationRows rows, readOperations(trace));
  return graphOf(rows);
}

}  // namespace sonde::engine::operations
