#include "analysis/engine/operations/job_view.h"

#include "analysis/engine/replay/replay.h"

#include <algorithm>
#include <string>

namespace sonde::engine::operations {

graph::TraceGraph traceGraphOf(const OperationGraph& job) {
  graph::TraceGraph trace;
  trace.graph = job.graph;
  trace.graph.gapNs.assign(job.graph.nodes(), 0);
  trace.graph.beginNs = replay::replay(job.graph, {job.graph.durNs, trace.graph.gapNs});
  for (const StepNodes& step : job.steps) {
    graph::IterationNodes nodes;
    nodes.number = step.number;
    nodes.first = step.anchor;
    nodes.last = step.last;
    trace.iterations.push_back(nodes);
  }
  graph::Check times{"times", 0, 0, "operations that began before all that they needed had ended"};
  for (const std::int64_t gap : job.graph.gapNs)
    if (gap < 0) {
      ++times.violations;
      times.worstNs = std::max(times.worstNs, -gap);
    }
  trace.checks = {times,
                  {"unknown", job.unknown, 0, "operations of unknown types, left out"},
                  {"stepless", job.stepless, 0, "operations without a step or an end, left out"},
                  {"unpaired", job.unpaired, 0, "sends and receives without a partner, left out"},
                  {"apart",
                   job.apart,
                   job.mostApartNs,
                   "meetings whose members do not begin together, so their times hold waiting"}};
  return trace;
}

stragglers::Work workOf(const OperationGraph& job, const std::vector<std::int64_t>& gapNs) {
  stragglers::Work work{job.graph, gapNs, {}, {}, {}, {}, {}, {}};
  for (const Worker& worker : job.workers)
    work.ranks.push_back(worker.rank);
  for (std::size_t type = 0; type < model::kOperationTypes; ++type) {
    const auto of = static_cast<model::OperationType>(type);
    work.what.push_back(
        {std::string(word(of)),
         isCommunication(of) ? critical::PathCause::Transfer : critical::PathCause::Host});
  }
  work.stepOf.assign(job.graph.nodes(), stragglers::kNoStep);
  for (std::uint32_t step = 0; step < job.steps.size(); ++step) {
    const StepNodes& nodes = job.steps[step];
    std::fill(work.stepOf.begin() + nodes.anchor, work.stepOf.begin() + nodes.end, step);
    work.steps.push_back({{nodes.anchor}, {nodes.last}});
  }
  for (graph::NodeIndex node = 0; node < job.graph.nodes(); ++node) {
    const NodeOperation& each = job.operations[node];
    if (each.worker != kNoWorker)
      work.parts.push_back(
          {node, each.worker, static_cast<std::uint32_t>(each.type), job.graph.durNs[node]});
  }
  return work;
}

}  // namespace sonde::engine::operations
