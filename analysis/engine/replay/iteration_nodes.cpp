#include "analysis/engine/replay/iteration_nodes.h"

#include <algorithm>
#include <limits>

namespace sonde::engine::replay {

using graph::Graph;
using graph::IterationNodes;
using graph::NodeIndex;

IterationWindows::IterationWindows(const Graph& graph,
                                   const std::vector<JobIteration>& iterations) {
  for (std::uint32_t i = 0; i < iterations.size(); ++i)
    for (const IterationNodes& each : iterations[i].ranks) {
      const Window window{graph.beginNs[each.first], graph.endNs(each.last), i};
      ofProcesses_[each.processId].push_back(window);
      if (each.rank >= 0)
        ofRanks_[each.rank].push_back(window);
    }
  for (Windows* windows : {&ofProcesses_, &ofRanks_})
    for (auto& [owner, all] : *windows)
      std::sort(all.begin(), all.end(), [](const Window& a, const Window& b) {
        return a.beginNs < b.beginNs;
      });
}

const IterationWindows::Window* IterationWindows::find(const graph::Lane& lane,
                                                       std::int64_t ns) const {
  auto windows = ofProcesses_.find(lane.processId);
  if (windows == ofProcesses_.end()) {
    windows = ofRanks_.find(lane.rank);
    if (windows == ofRanks_.end())
      return nullptr;
  }
  const std::vector<Window>& all = windows->second;
  const auto behind =
      std::upper_bound(all.begin(), all.end(), ns, [](std::int64_t at, const Window& each) {
        return at < each.beginNs;
      });
  return behind != all.begin() && ns < (behind - 1)->endNs ? &*(behind - 1) : nullptr;
}

std::uint32_t IterationWindows::at(const graph::Lane& lane, std::int64_t ns) const {
  const Window* const window = find(lane, ns);
  return window == nullptr ? kNoIteration : window->index;
}

std::optional<std::int64_t> IterationWindows::beginNsAt(const graph::Lane& lane,
                                                        std::int64_t ns) const {
  const Window* const window = find(lane, ns);
  return window == nullptr ? std::nullopt : std::optional(window->beginNs);
}

std::vector<std::uint32_t> iterationOfNodes(const Graph& graph,
                                            const std::vector<JobIteration>& iterations) {
  const IterationWindows windows(graph, iterations);
  std::vector<std::uint32_t> found(graph.nodes());
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    found[node] = windows.at(graph.lanes[graph.lane[node]], graph.beginNs[node]);
  return found;
}

double lengthOf(const JobIteration& iteration,
                const std::vector<std::int64_t>& beginNs,
                const std::vector<std::int64_t>& durNs) {
  double sum = 0;
  for (const IterationNodes& each : iteration.ranks)
    sum += static_cast<double>(beginNs[each.last] + durNs[each.last] - beginNs[each.first]);
  return sum / static_cast<double>(iteration.ranks.size());
}

double meanIterationNs(const graph::TraceGraph& job, const Times& times) {
  double sum = 0;
  std::int64_t count = 0;
  for (const JobIteration& each : jobIterations(job))
    if (each.isWhole) {
      sum += lengthOf(each, times.beginNs, times.durNs);
      ++count;
    }
  if (count > 0)
    return sum / static_cast<double>(count);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (std::size_t node = 0; node < times.beginNs.size(); ++node) {
    first = std::min(first, times.beginNs[node]);
    last = std::max(last, times.beginNs[node] + times.durNs[node]);
  }
  return times.beginNs.empty() ? 0 : static_cast<double>(last - first);
}

}  // namespace sonde::engine::replay
