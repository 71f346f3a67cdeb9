// The data-flow graph of an operation-level trace: its operations as nodes, one graph for all
// steps. Uses the database's thread while it reads; then plain values.
//
// A step begins at a node of its own (NodeKind::Anchor), with its first operation, and nothing
// leads from step to step. Computing is NodeKind::Host, communication NodeKind::Transfer. Sends and
// receives of a worker have a lane for each of their four types. Operations that begin together
// need a node NodeKind::Meeting, which needs all that they need.
//
// Requires of the trace: a communicating operation begins when all its members can, so that its
// duration has no waiting. `apart` counts the meetings that contradict this. The gap of a node is
// then the launch delay: its begin minus the latest end of all that it needs.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/operations/operation_rows.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::engine::operations {

inline constexpr std::uint32_t kNoWorker = std::numeric_limits<std::uint32_t>::max();

// The operation of a node.
struct NodeOperation {
  std::uint32_t worker = kNoWorker;  // index; kNoWorker: an Anchor or a Meeting
  model::OperationType type = model::OperationType::Forward;
};

// The nodes of a step: [anchor, end). The first is its begin, and the last one its end: a Meeting
// that needs all others.
struct StepNodes {
  std::int64_t number = 0;
  graph::NodeIndex anchor = 0;
  graph::NodeIndex last = 0;
  graph::NodeIndex end = 0;
};

struct OperationGraph {
  graph::Graph graph;
  std::vector<NodeOperation> operations;  // by node
  std::vector<Worker> workers;            // by data-parallel rank, then by stage
  std::vector<StepNodes> steps;           // by number
  std::int64_t stages = 0;

  // The operations that the graph does not have.
  std::int64_t unknown = 0;   // of types that Sonde does not know
  std::int64_t stepless = 0;  // without a step or an end
  std::int64_t unpaired = 0;  // sends and receives without a partner, other than at the ends
  // Meetings whose members begin more than a millisecond apart, and the largest distance.
  std::int64_t apart = 0;
  std::int64_t mostApartNs = 0;
};

// Errors are those of readOperations() and GraphBuilder::build().
Result<OperationGraph> readOperationGraph(const store::Database& trace);
Result<OperationGraph> graphOf(const OperationRows& rows);

}  // namespace sonde::engine::operations
