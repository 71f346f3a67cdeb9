#include "analysis/engine/graph/job_iterations.h"

#include "analysis/engine/graph/rank_checks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace sonde::engine::graph {
namespace {

std::int64_t firstBeginNs(const Graph& graph, const JobIteration& iteration) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const IterationNodes& each : iteration.ranks)
    first = std::min(first, graph.beginNs[each.first]);
  return first;
}

}  // namespace

std::vector<JobIteration> jobIterations(const TraceGraph& trace, std::optional<std::int64_t> only) {
  const bool haveUnmasked = std::any_of(trace.iterations.begin(),
                                        trace.iterations.end(),
                                        [](const auto& each) { return !each.isMasked; });
  std::map<IterationName, JobIteration> found;
  for (const IterationNodes& each : trace.iterations) {
    if (only ? each.number != *only : haveUnmasked && each.isMasked)
      continue;
    JobIteration& job = found[{each.number, each.occurrence}];
    job.number = each.number;
    job.occurrence = each.occurrence;
    job.ranks.push_back(each);
  }
  std::vector<JobIteration> iterations;
  iterations.reserve(found.size());
  const auto ofRanks = iterationsOfRanks(trace.iterations);
  for (auto& [place, job] : found) {
    job.isWhole = std::all_of(ofRanks.begin(), ofRanks.end(), [&place = place](const auto& rank) {
      return rank.second.contains(place);
    });
    iterations.push_back(std::move(job));
  }
  if (doNumbersRepeat(iterations))
    std::stable_sort(
        iterations.begin(), iterations.end(), [&](const JobIteration& a, const JobIteration& b) {
          return firstBeginNs(trace.graph, a) < firstBeginNs(trace.graph, b);
        });
  return iterations;
}

bool doNumbersRepeat(const std::vector<JobIteration>& iterations) {
  return std::any_of(iterations.begin(), iterations.end(), [](const JobIteration& each) {
    return each.occurrence > 0;
  });
}

}  // namespace sonde::engine::graph
