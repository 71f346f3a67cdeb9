#include "analysis/engine/replay/iteration_nodes.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace sonde::engine::replay {

using graph::Graph;
using graph::IterationNodes;
using graph::NodeIndex;

std::vector<JobIteration> jobIterations(const graph::TraceGraph& trace) {
  const bool haveUnmasked = std::any_of(trace.iterations.begin(),
                                        trace.iterations.end(),
                                        [](const auto& each) { return !each.isMasked; });
  std::map<std::int64_t, JobIteration> byNumber;
  for (const IterationNodes& each : trace.iterations)
    if (!haveUnmasked || !each.isMasked) {
      JobIteration& job = byNumber[each.number];
      job.number = each.number;
      job.ranks.push_back(each);
    }
  std::vector<JobIteration> iterations;
  for (auto& [number, job] : byNumber)
    iterations.push_back(std::move(job));
  return iterations;
}

std::vector<std::uint32_t> iterationOfNodes(const Graph& graph,
                                            const std::vector<JobIteration>& iterations) {
  struct Window {
    std::int64_t beginNs;
    std::int64_t endNs;
    std::uint32_t index;
  };
  using Windows = std::unordered_map<std::int64_t, std::vector<Window>>;
  Windows ofProcesses;
  Windows ofRanks;
  for (std::uint32_t i = 0; i < iterations.size(); ++i)
    for (const IterationNodes& each : iterations[i].ranks) {
      const Window window{graph.beginNs[each.first], graph.endNs(each.last), i};
      ofProcesses[each.processId].push_back(window);
      if (each.rank >= 0)
        ofRanks[each.rank].push_back(window);
    }
  for (Windows* windows : {&ofProcesses, &ofRanks})
    for (auto& [owner, all] : *windows)
      std::sort(all.begin(), all.end(), [](const Window& a, const Window& b) {
        return a.beginNs < b.beginNs;
      });
  // A process without iterations, such as a loader's worker, has those of its rank.
  const auto windowsOf = [&](const graph::Lane& lane) -> const std::vector<Window>* {
    if (const auto own = ofProcesses.find(lane.processId); own != ofProcesses.end())
      return &own->second;
    const auto ranks = ofRanks.find(lane.rank);
    return ranks == ofRanks.end() ? nullptr : &ranks->second;
  };
  std::vector<std::uint32_t> found(graph.nodes(), kNoIteration);
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    const std::vector<Window>* const all = windowsOf(graph.lanes[graph.lane[node]]);
    if (all == nullptr)
      continue;
    const std::int64_t at = graph.beginNs[node];
    const auto behind =
        std::upper_bound(all->begin(), all->end(), at, [](std::int64_t ns, const Window& each) {
          return ns < each.beginNs;
        });
    if (behind != all->begin() && at < (behind - 1)->endNs)
      found[node] = (behind - 1)->index;
  }
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

}  // namespace sonde::engine::replay
