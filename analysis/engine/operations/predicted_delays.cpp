#include "analysis/engine/operations/predicted_delays.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace sonde::engine::operations {
namespace {

using graph::LaneIndex;
using graph::NodeIndex;

// The nodes of a step by lane, in order.
std::vector<NodeIndex> byLane(const OperationGraph& job, const StepNodes& step) {
  std::vector<NodeIndex> nodes;
  for (NodeIndex node = step.anchor; node < step.end; ++node)
    nodes.push_back(node);
  std::stable_sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
    return job.graph.lane[a] < job.graph.lane[b];
  });
  return nodes;
}

struct Sum {
  std::int64_t ns = 0;
  std::int64_t steps = 0;
};

}  // namespace

std::vector<std::uint32_t> structuresOf(const OperationGraph& job) {
  std::map<std::vector<std::pair<LaneIndex, model::OperationType>>, std::uint32_t> numbers;
  std::vector<std::uint32_t> found;
  for (const StepNodes& step : job.steps) {
    std::vector<std::pair<LaneIndex, model::OperationType>> content;
    for (const NodeIndex node : byLane(job, step))
      content.emplace_back(job.graph.lane[node], job.operations[node].type);
    found.push_back(numbers.emplace(std::move(content), static_cast<std::uint32_t>(numbers.size()))
                        .first->second);
  }
  return found;
}

std::vector<std::int64_t> predictedDelays(const OperationGraph& job,
                                          const std::vector<std::uint32_t>& structures,
                                          const std::vector<bool>& builds) {
  // By structure and place among the nodes of a step.
  std::map<std::pair<std::uint32_t, std::size_t>, Sum> sums;
  std::vector<std::vector<NodeIndex>> nodes;
  for (std::size_t step = 0; step < job.steps.size(); ++step) {
    nodes.push_back(byLane(job, job.steps[step]));
    if (!builds[step])
      continue;
    for (std::size_t place = 0; place < nodes[step].size(); ++place) {
      Sum& sum = sums[{structures[step], place}];
      sum.ns += job.graph.gapNs[nodes[step][place]];
      ++sum.steps;
    }
  }
  std::vector<std::int64_t> delays = job.graph.gapNs;
  for (std::size_t step = 0; step < job.steps.size(); ++step)
    for (std::size_t place = 0; place < nodes[step].size(); ++place) {
      std::int64_t& own = delays[nodes[step][place]];
      Sum others = sums[{structures[step], place}];
      others.ns -= builds[step] ? own : 0;
      others.steps -= builds[step] ? 1 : 0;
      if (others.steps > 0)
        own = std::llround(static_cast<double>(others.ns) / static_cast<double>(others.steps));
    }
  return delays;
}

}  // namespace sonde::engine::operations
