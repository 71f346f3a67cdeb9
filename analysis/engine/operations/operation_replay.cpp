#include "analysis/engine/operations/operation_replay.h"

#include "analysis/engine/operations/step_times.h"
#include "analysis/engine/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sonde::engine::operations {
namespace {

using graph::Graph;
using graph::NodeIndex;

struct Moments {
  double mean = 0;
  double deviation = 0;  // standard
};

Moments momentsOf(const std::vector<double>& values) {
  Moments found;
  const auto count = static_cast<double>(values.size());
  for (const double value : values)
    found.mean += value / count;
  double squares = 0;
  for (const double value : values)
    squares += (value - found.mean) * (value - found.mean);
  if (values.size() > 1)
    found.deviation = std::sqrt(squares / (count - 1));
  return found;
}

// The node that ends last in a step.
NodeIndex lastOf(const Graph& graph, const StepNodes& step) {
  NodeIndex last = step.anchor;
  for (NodeIndex node = step.anchor; node < step.end; ++node)
    if (graph.endNs(node) > graph.endNs(last))
      last = node;
  return last;
}

// The launch delays on the measured critical path of a step.
std::int64_t delaysOf(const Graph& graph, const StepNodes& step) {
  std::int64_t delays = 0;
  for (NodeIndex node = lastOf(graph, step); graph.firstIn[node] < graph.firstIn[node + 1];) {
    delays += graph.gapNs[node];
    const auto begin = graph.from.begin() + graph.firstIn[node];
    const auto end = graph.from.begin() + graph.firstIn[node + 1];
    node = *std::max_element(
        begin, end, [&](NodeIndex a, NodeIndex b) { return graph.endNs(a) < graph.endNs(b); });
  }
  return delays;
}

// The mean iteration of each worker.
std::vector<double> meansByWorker(const OperationGraph& job,
                                  const std::vector<std::int64_t>& beginNs) {
  std::vector<double> means(job.workers.size(), 0);
  for (const StepNodes& step : job.steps) {
    std::vector<std::int64_t> lengths(job.workers.size(), 0);
    for (NodeIndex node = step.anchor; node < step.end; ++node) {
      const std::uint32_t worker = job.operations[node].worker;
      if (worker != kNoWorker)
        lengths[worker] =
            std::max(lengths[worker], beginNs[node] + job.graph.durNs[node] - beginNs[step.anchor]);
    }
    for (std::size_t worker = 0; worker < lengths.size(); ++worker)
      means[worker] += static_cast<double>(lengths[worker]) / static_cast<double>(job.steps.size());
  }
  return means;
}

}  // namespace

Result<replay::ReplayReport> replayOperations(const OperationGraph& job) {
  const Graph& graph = job.graph;
  const std::vector<std::int64_t> none(graph.nodes(), 0);
  const std::vector<std::int64_t> begin = replay::replay(graph, {graph.durNs, none});
  const std::vector<std::int64_t> measuredNs = measuredTimes(job);
  const std::vector<std::int64_t> replayedNs = stepTimes(job, begin, graph.durNs);
  std::vector<double> measured;
  std::vector<double> replayed;
  std::vector<double> errors;
  double delays = 0;
  for (std::size_t step = 0; step < job.steps.size(); ++step) {
    if (measuredNs[step] <= 0)
      continue;
    measured.push_back(static_cast<double>(measuredNs[step]));
    replayed.push_back(static_cast<double>(replayedNs[step]));
    errors.push_back(replayed.back() / measured.back() - 1);
    delays += static_cast<double>(delaysOf(graph, job.steps[step]));
  }
  if (measured.empty())
    return notFound("the operations of the job take no time");
  const Moments ofMeasured = momentsOf(measured);
  const auto count = static_cast<double>(measured.size());
  replay::ReplayReport report;
  report.iterations = static_cast<std::int64_t>(measured.size());
  report.measuredNs = ofMeasured.mean;
  report.replayedNs = momentsOf(replayed).mean;
  report.error = momentsOf(errors).mean;
  report.standardError = momentsOf(errors).deviation / std::sqrt(count);
  report.noise = ofMeasured.deviation / ofMeasured.mean;
  report.gapShare = delays / (count * ofMeasured.mean);
  const std::vector<double> measuredMeans = meansByWorker(job, graph.beginNs);
  const std::vector<double> replayedMeans = meansByWorker(job, begin);
  for (std::size_t worker = 0; worker < job.workers.size(); ++worker)
    report.ranks.push_back(
        {job.workers[worker].rank, measuredMeans[worker], replayedMeans[worker]});
  return report;
}

}  // namespace sonde::engine::operations
