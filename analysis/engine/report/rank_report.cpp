#include "analysis/engine/report/rank_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace sonde::engine::report {
namespace {

using correction::Unexplained;
using metrics::Clock;
using metrics::RankProcess;
using metrics::RankTime;

// A rank's values by one clock.
struct ByClock {
  RankProcess process;
  RankTime time;
  std::vector<metrics::OperationTime> operations;
};

Result<ByClock> readByClock(const store::Database& trace,
                            const RankProcess& process,
                            const Clock& clock) {
  ByClock found;
  found.process = metrics::byClock(process, clock);
  SONDE_TRY_ASSIGN(const metrics::RankActivity activity,
                   metrics::readRankActivity(trace, process, clock));
  found.time = metrics::timeIn(activity, found.process.window);
  SONDE_TRY_ASSIGN(found.operations, metrics::operationsOf(trace, process, clock));
  return found;
}

const ByClock& best(const std::vector<ByClock>& all) {
  return all.size() > 1 ? all[1] : all[0];
}

// The same time by each clock.
template <typename Get>
metrics::CorrectedNs corrected(const std::vector<ByClock>& all,
                               const Unexplained& unexplained,
                               Get get) {
  std::vector<std::int64_t> byClock;
  byClock.reserve(all.size());
  for (const ByClock& each : all)
    byClock.push_back(get(each));
  return metrics::withInterval(byClock, unexplained);
}

void setTimes(const std::vector<ByClock>& all, const Unexplained& unexplained, RankReport& rank) {
  rank.time = rank.lowTime = rank.highTime = best(all).time;
  rank.rawTime = all.front().time;
  for (std::int64_t RankTime::*const part : {&RankTime::windowNs,
                                             &RankTime::computeNs,
                                             &RankTime::copyNs,
                                             &RankTime::commNs,
                                             &RankTime::hiddenNs,
                                             &RankTime::exposedNs,
                                             &RankTime::exposedCopyNs,
                                             &RankTime::idleNs}) {
    const auto time =
        corrected(all, unexplained, [part](const ByClock& each) { return each.time.*part; });
    rank.lowTime.*part = time.lowNs;
    rank.highTime.*part = time.highNs;
  }
}

// All clocks have the same operations, but each in its own order.
void setOperations(const std::vector<ByClock>& all,
                   const Unexplained& unexplained,
                   RankReport& rank) {
  std::map<std::pair<std::string, std::string>, std::vector<std::int64_t>> times;
  for (const ByClock& each : all)
    for (const metrics::OperationTime& operation : each.operations)
      times[{operation.kind, operation.name}].push_back(operation.ns);
  rank.operations = best(all).operations;
  for (const metrics::OperationTime& operation : rank.operations)
    rank.operationTimes.push_back(
        metrics::withInterval(times.at({operation.kind, operation.name}), unexplained));
}

Result<void> setIterations(const store::Database& trace,
                           const std::vector<ByClock>& all,
                           const Clock& clock,
                           const Unexplained& unexplained,
                           RankReport& rank) {
  for (std::size_t at = 0; at < rank.process.iterations.size(); ++at)
    rank.iterationTimes.push_back(corrected(
        all, unexplained, [at](const ByClock& each) { return each.process.iterations[at].durNs; }));
  rank.iterations = metrics::statisticsOf(best(all).process.iterations);
  const auto median = metrics::medianIteration(best(all).process);
  if (!median)
    return {};
  const auto& told = best(all).process.iterations;
  std::size_t place = 0;
  while (told[place].number != median->number || told[place].startNs != median->startNs)
    ++place;
  SONDE_TRY_ASSIGN(rank.parts,
                   metrics::partsOf(trace, rank.process, rank.process.iterations[place], clock));
  return {};
}

Result<void> setSteps(const store::Database& trace, RankReport& rank) {
  SONDE_TRY_ASSIGN(const metrics::RankActivity activity,
                   metrics::readRankActivity(trace, rank.process));
  for (const metrics::IterationTime& step : rank.process.iterations)
    rank.stepTimes.push_back(metrics::timeIn(activity, {step.startNs, step.startNs + step.durNs}));
  return {};
}

// Adds a rank's times by each clock to the sums. A rank with iterations of which none counts is
// skipped: the rest of its window is the time between iterations.
void addSums(const std::vector<ByClock>& all, bool ofIterations, std::vector<std::int64_t>& sums) {
  sums.resize(all.size(), 0);
  if (!ofIterations && all.front().process.iterates())
    return;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (!ofIterations)
      sums[at] += all[at].time.windowNs;
    else
      for (const metrics::IterationTime& iteration : all[at].process.iterations)
        sums[at] += iteration.durNs;
  }
}

}  // namespace

std::optional<double> RecordingCost::shareOf(std::int64_t leftNs) const {
  if (sum.rawNs <= 0)
    return std::nullopt;
  return static_cast<double>(sum.rawNs - leftNs) / static_cast<double>(sum.rawNs);
}

Result<RankTimes> readRankTimes(const store::Database& trace,
                                std::vector<RankProcess> processes,
                                const metrics::Clocks& clocks) {
  RankTimes result;
  result.cost.known = clocks.correction().has_value();
  result.cost.unexplained = clocks.unexplained();
  result.cost.ofIterations =
      std::any_of(processes.begin(), processes.end(), [](const RankProcess& process) {
        return !process.iterations.empty();
      });
  if (clocks.correction())
    result.cost.unknown = clocks.correction()->unknown;
  const std::vector<Clock> ways = clocks.all();
  std::vector<std::int64_t> sums;
  for (RankProcess& process : processes) {
    std::vector<ByClock> all;
    for (const Clock& clock : ways) {
      SONDE_TRY_ASSIGN(ByClock found, readByClock(trace, process, clock));
      all.push_back(std::move(found));
    }
    RankReport rank;
    rank.process = std::move(process);
    setTimes(all, result.cost.unexplained, rank);
    setOperations(all, result.cost.unexplained, rank);
    SONDE_TRY(
        setIterations(trace, all, ways[ways.size() > 1 ? 1 : 0], result.cost.unexplained, rank));
    SONDE_TRY(setSteps(trace, rank));
    addSums(all, result.cost.ofIterations, sums);
    result.ranks.push_back(std::move(rank));
  }
  if (!sums.empty())
    result.cost.sum = metrics::withInterval(sums, result.cost.unexplained);
  return result;
}

}  // namespace sonde::engine::report
