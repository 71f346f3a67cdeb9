#include "analysis/engine/operations/operation_graph.h"
#include "analysis/engine/operations/worker_operations.h"
#include "analysis/engine/pipeline/read_pipeline.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace sonde::engine::pipeline {
namespace {

using graph::Graph;
using graph::NodeIndex;
using model::OperationType;
using operations::Direction;
using operations::kDirections;
using operations::Operation;
using operations::WorkerOperations;

bool isInRun(OperationType type) {
  return std::any_of(kDirections.begin(), kDirections.end(), [&](const Direction& each) {
    return type == each.compute || type == each.send || type == each.receive;
  });
}

// Whether it takes time in proportion to the parameters of a stage.
bool isOfParameters(OperationType type) {
  return type == OperationType::ParamsAllGather || type == OperationType::GradsReduceScatter ||
         type == OperationType::LayernormAllReduce || type == OperationType::Optimizer;
}

class OperationReader {
 public:
  OperationReader(const operations::OperationRows& rows,
                  const operations::OperationGraph& operations,
                  const whatif::Scenario& scenario)
      : rows_(rows), operations_(operations), scenario_(scenario), graph_(scenario.graph()) {}

  Result<PipelineJob> read() {
    job_.hasTransfers = true;
    job_.shape.stages = rows_.stages;
    job_.dropped.assign(graph_.edges(), false);
    SONDE_TRY(findCopies());
    operationOf_.assign(operations_.graph.nodes(), nullptr);
    job_.lanes.assign(copies_, std::vector<graph::Lane>(static_cast<std::size_t>(rows_.stages)));
    for (std::size_t step = 0; step < rows_.steps.size(); ++step)
      SONDE_TRY(addStep(rows_.steps[step], operations_.steps[step]));
    return std::move(job_);
  }

 private:
  Result<void> findCopies() {
    if (rows_.stages < 2)
      return notFound("the job has one pipeline stage, so it has no schedule");
    const auto stages = static_cast<std::size_t>(rows_.stages);
    copies_ = rows_.workers.size() / stages;
    if (copies_ * stages != rows_.workers.size())
      return notFound("the trace lacks some stages of the pipeline");
    return {};
  }

  StageRun& runOf(std::uint32_t worker) {
    const auto stages = static_cast<std::size_t>(rows_.stages);
    return iteration_.runs[worker / stages][worker % stages];
  }

  Result<void> addStep(const operations::Step& step, const operations::StepNodes& nodes);
  Result<void> addWorker(const operations::Step& step, std::uint32_t worker);
  void addTransfers(const operations::Step& step, std::uint32_t worker, StageRun& run);
  void findInside(const operations::StepNodes& nodes);
  void divideEdges(const operations::StepNodes& nodes);
  void enter(NodeIndex from, NodeIndex to);
  void leave(NodeIndex from, NodeIndex to);

  Span spanOf(const Operation& operation) const {
    const auto node = nodeOf_.find(operation.sliceId);
    return {node == nodeOf_.end() ? 0 : static_cast<double>(scenario_.durNs()[node->second]),
            operation.sliceId};
  }

  const operations::OperationRows& rows_;
  const operations::OperationGraph& operations_;
  const whatif::Scenario& scenario_;
  const Graph& graph_;
  PipelineJob job_;
  std::size_t copies_ = 0;
  std::vector<const Operation*> operationOf_;  // by node; nullptr: none
  // The current step's.
  PipelineIteration iteration_;
  std::vector<WorkerOperations> workers_;
  std::unordered_map<std::int64_t, NodeIndex> nodeOf_;  // by slice
  std::vector<bool> isInside_;                          // by node behind the step's first
  std::vector<const Operation*> last_;                  // the last one that computes; by worker
};

Result<void> OperationReader::addStep(const operations::Step& step,
                                      const operations::StepNodes& nodes) {
  const auto stages = static_cast<std::size_t>(rows_.stages);
  iteration_ = {};
  iteration_.runs.assign(copies_, std::vector<StageRun>(stages));
  iteration_.begin = nodes.anchor;
  iteration_.end = nodes.last;
  nodeOf_.clear();
  for (NodeIndex node = nodes.anchor; node < nodes.end; ++node)
    if (graph_.row[node] != 0)
      nodeOf_.emplace(graph_.row[node], node);
  workers_.assign(rows_.workers.size(), {});
  last_.assign(rows_.workers.size(), nullptr);
  for (std::uint32_t index = 0; index < step.operations.size(); ++index) {
    const Operation& each = step.operations[index];
    workers_[each.worker].add(index, each.type);
    job_.shape.chunks = std::max(job_.shape.chunks, each.chunk + 1);
    if (each.type == OperationType::Forward || each.type == OperationType::Backward)
      last_[each.worker] = &each;
    if (const auto node = nodeOf_.find(each.sliceId); node != nodeOf_.end())
      operationOf_[node->second] = &each;
  }
  for (std::uint32_t worker = 0; worker < rows_.workers.size(); ++worker)
    SONDE_TRY(addWorker(step, worker));
  findInside(nodes);
  divideEdges(nodes);
  job_.iterations.push_back(std::move(iteration_));
  return {};
}

Result<void> OperationReader::addWorker(const operations::Step& step, std::uint32_t worker) {
  StageRun& run = runOf(worker);
  run.beginNs = graph_.beginNs[iteration_.begin];
  run.entries.push_back({iteration_.begin});
  std::map<std::pair<bool, std::int64_t>, std::int64_t> counts;  // by direction and chunk
  for (const Operation& each : step.operations) {
    const bool isForward = each.type == OperationType::Forward;
    if (each.worker != worker || (!isForward && each.type != OperationType::Backward))
      continue;
    const std::int64_t chunk = std::max<std::int64_t>(each.chunk, 0);
    StageOperation operation;
    operation.turn = {isForward,
                      static_cast<std::int64_t>(job_.iterations.size()),
                      counts[{isForward, chunk}]++,
                      chunk};
    operation.own = spanOf(each);
    run.operations.push_back(operation);
  }
  if (run.operations.empty())
    return notFound("the trace lacks the forwards and backwards of some stages");
  const NodeIndex node = nodeOf_.at(run.operations.front().own.row);
  const auto stages = static_cast<std::size_t>(rows_.stages);
  job_.lanes[worker / stages][worker % stages] = graph_.lanes[graph_.lane[node]];
  addTransfers(step, worker, run);
  return {};
}

void OperationReader::addTransfers(const operations::Step& step,
                                   std::uint32_t worker,
                                   StageRun& run) {
  std::unordered_map<std::int64_t, StageOperation*> byRow;
  for (StageOperation& each : run.operations)
    byRow.emplace(each.own.row, &each);
  const operations::Pipeline pipeline{rows_.stages, job_.shape.chunks - 1};
  for (const Direction& direction : kDirections)
    for (const bool isSend : {true, false})
      for (const auto& [transfer, compute] : workers_[worker].transfersOf(
               direction, isSend, step, rows_.workers[worker].stage, pipeline)) {
        StageOperation& of = *byRow.at(step.operations[compute].sliceId);
        (isSend ? of.send : of.receive) = spanOf(step.operations[transfer]);
      }
}

void OperationReader::findInside(const operations::StepNodes& nodes) {
  isInside_.assign(nodes.end - nodes.anchor, false);
  for (NodeIndex node = nodes.anchor; node < nodes.end; ++node) {
    const Operation* const of = operationOf_[node];
    if (of == nullptr)
      continue;
    StageRun& run = runOf(of->worker);
    const Stretch whole{node, graph_.beginNs[node], graph_.endNs(node)};
    if (isInRun(of->type)) {
      isInside_[node - nodes.anchor] = true;
      run.inside.push_back(whole);
    } else if (isOfParameters(of->type)) {
      run.outside.push_back(whole);
    }
  }
}

// A send or receive loses all its needs, also those of its meeting.
void OperationReader::divideEdges(const operations::StepNodes& nodes) {
  const auto isInside = [&](NodeIndex node) { return isInside_[node - nodes.anchor]; };
  std::vector<bool> isMeeting(nodes.end - nodes.anchor, false);  // of sends and receives
  for (NodeIndex node = nodes.anchor; node < nodes.end; ++node)
    for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge)
      if (isInside(node) && graph_.edgeKind[edge] == graph::EdgeKind::Release)
        isMeeting[graph_.from[edge] - nodes.anchor] = true;
  const auto belongs = [&](NodeIndex node) {
    return isInside(node) || isMeeting[node - nodes.anchor];
  };
  for (NodeIndex node = nodes.anchor; node < nodes.end; ++node)
    for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge) {
      const NodeIndex from = graph_.from[edge];
      if (from < nodes.anchor || from >= nodes.end || (!belongs(from) && !belongs(node)))
        continue;
      job_.dropped[edge] = true;
      if (!belongs(from))
        enter(from, node);
      else if (!belongs(node))
        leave(from, node);
    }
}

// Weights are gathered before the chunk's first forward; the step's begin is an entry already.
void OperationReader::enter(NodeIndex from, NodeIndex to) {
  const Operation* const gather = operationOf_[from];
  const Operation* const forward = operationOf_[to];
  if (gather != nullptr && forward != nullptr && gather->type == OperationType::ParamsAllGather)
    runOf(forward->worker).entries.push_back({from, 0, std::max<std::int64_t>(forward->chunk, 0)});
}

void OperationReader::leave(NodeIndex from, NodeIndex to) {
  const Operation* const of = operationOf_[from];
  if (of == nullptr || (of->type != OperationType::Forward && of->type != OperationType::Backward))
    return;
  const bool isLast = of == last_[of->worker] || of->type == OperationType::Forward;
  runOf(of->worker)
      .exits.push_back({to, isLast ? kAllChunks : std::max<std::int64_t>(of->chunk, 0)});
}

}  // namespace

Result<PipelineJob> operationPipelineOf(const operations::OperationRows& rows,
                                        const operations::OperationGraph& operations,
                                        const whatif::Scenario& scenario) {
  return OperationReader(rows, operations, scenario).read();
}

Result<PipelineJob> readOperationPipeline(const store::Database& trace,
                                          const whatif::Scenario& scenario) {
  SONDE_TRY_ASSIGN(const operations::OperationRows rows, operations::readOperations(trace));
  SONDE_TRY_ASSIGN(const operations::OperationGraph operations, operations::graphOf(rows));
  return operationPipelineOf(rows, operations, scenario);
}

}  // namespace sonde::engine::pipeline
