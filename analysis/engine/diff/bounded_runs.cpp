#include "analysis/engine/diff/bounded_runs.h"

#include "analysis/engine/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace sonde::engine::diff {
namespace {

// The subjects of each kind that take the most time over all runs.
std::set<Subject> longestSubjects(const std::vector<RunTimes>& runs) {
  std::map<Subject, double> totals;
  for (const RunTimes& run : runs)
    for (const auto& [subject, times] : run.times)
      totals[subject] += std::accumulate(times.begin(), times.end(), 0.0);
  std::map<Kind, std::vector<std::pair<double, Subject>>> byKind;
  for (const auto& [subject, total] : totals)
    byKind[subject.kind].emplace_back(-total, subject);
  std::set<Subject> kept;
  for (auto& [kind, subjects] : byKind) {
    std::sort(subjects.begin(), subjects.end());
    subjects.resize(std::min(subjects.size(), kMostBaselineSubjects));
    for (const auto& [total, subject] : subjects)
      kept.insert(subject);
  }
  return kept;
}

std::vector<double> lastWhole(const std::vector<double>& times, std::size_t count) {
  std::vector<double> last(times.end() - static_cast<std::ptrdiff_t>(count), times.end());
  for (double& each : last)
    each = std::max(0.0, std::round(each));
  return last;
}

RunTimes boundedRun(const RunTimes& run, const std::set<Subject>& kept) {
  RunTimes bounded;
  bounded.costs = run.costs;
  bounded.ranks = run.ranks;
  bounded.warmUp = run.warmUp;
  bounded.partial = run.partial;
  bounded.iterations = std::min(run.iterations, kMostBaselineIterations);
  for (const auto& [subject, times] : run.times) {
    if (!kept.contains(subject))
      continue;
    bounded.times[subject] = lastWhole(times, bounded.iterations);
    const auto errors = run.errors.find(subject);
    if (errors != run.errors.end() && !errors->second.empty())
      bounded.errors[subject].assign(bounded.iterations, statistics::mean(errors->second));
  }
  return bounded;
}

}  // namespace

std::vector<RunTimes> boundedRuns(std::vector<RunTimes> runs) {
  const std::set<Subject> kept = longestSubjects(runs);
  for (RunTimes& run : runs)
    run = boundedRun(run, kept);
  return runs;
}

std::vector<RunTimes> observedOnly(std::vector<RunTimes> runs, const Dimensions& by) {
  for (RunTimes& run : runs)
    for (Times RunTimes::*const part : {&RunTimes::times, &RunTimes::raw, &RunTimes::errors})
      std::erase_if(run.*part, [&](const auto& each) { return !isObserved(each.first.kind, by); });
  return runs;
}

}  // namespace sonde::engine::diff
