#include "analysis/engine/operations/step_times.h"

#include "analysis/engine/replay/replay.h"

#include <algorithm>
#include <cmath>

namespace sonde::engine::operations {

std::vector<std::int64_t> stepTimes(const OperationGraph& job,
                                    const std::vector<std::int64_t>& beginNs,
                                    const std::vector<std::int64_t>& durNs) {
  std::vector<std::int64_t> times;
  times.reserve(job.steps.size());
  for (const StepNodes& step : job.steps) {
    std::int64_t end = beginNs[step.anchor];
    for (graph::NodeIndex node = step.anchor; node < step.end; ++node)
      end = std::max(end, beginNs[node] + durNs[node]);
    times.push_back(end - beginNs[step.anchor]);
  }
  return times;
}

std::vector<std::int64_t> measuredTimes(const OperationGraph& job) {
  return stepTimes(job, job.graph.beginNs, job.graph.durNs);
}

std::vector<std::int64_t> timesWithoutDelays(const OperationGraph& job,
                                             const std::vector<std::int64_t>& durNs) {
  const std::vector<std::int64_t> none(job.graph.nodes(), 0);
  return stepTimes(job, replay::replay(job.graph, {durNs, none}), durNs);
}

double meanError(const std::vector<std::int64_t>& replayedNs,
                 const std::vector<std::int64_t>& measuredNs) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t step = 0; step < replayedNs.size(); ++step) {
    if (measuredNs[step] == 0)
      continue;
    const auto measured = static_cast<double>(measuredNs[step]);
    sum += std::abs(static_cast<double>(replayedNs[step]) - measured) / measured;
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace sonde::engine::operations
