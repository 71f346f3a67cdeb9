#include "cli/report/report_times.h"

#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;
using engine::correction::Unexplained;
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

std::vector<std::string> unknownOf(const engine::correction::Correction& correction) {
  std::vector<std::string> unknown;
  for (const auto& [of, count] : correction.unknown)
    unknown.push_back(fmt::format("{} {} {}", humanCount(count), of.probe, of.api));
  return unknown;
}

nlohmann::json shareJson(const std::optional<double>& share) {
  return share ? nlohmann::json(*share) : nlohmann::json();
}

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

}  // namespace

std::string unexplainedText(const Unexplained& unexplained) {
  return fmt::format("with probes off iterations are {} % {} (± {} %), which no event accounts for",
                     percent(std::abs(unexplained.share)),
                     unexplained.share > 0 ? "shorter still" : "longer",
                     percent(Unexplained::kStandardErrors * unexplained.error));
}

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
    result.cost.unknown = unknownOf(*clocks.correction());
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

std::string costText(const RecordingCost& cost) {
  constexpr std::size_t kNamed = 3;
  if (!cost.known || !cost.share())
    return "";
  const char* const of = cost.ofIterations ? "an iteration" : "the time";
  // The estimate of a cost close to zero may be negative.
  std::string text = cost.share().value() > 0
                         ? fmt::format("recording took {} % of {} ({} to {} %)",
                                       percent(cost.share().value()),
                                       of,
                                       percent(cost.low().value()),
                                       percent(cost.high().value()))
                         : fmt::format("recording took at most {} % of {}",
                                       percent(std::max(cost.high().value(), 0.0)),
                                       of);
  text += ", taken out of these times";
  constexpr double kLeast = 0.005;  // a smaller share is not the reason for a high upper bound
  if (cost.unexplained.recorder >= kLeast)
    text += fmt::format("; {} allows for the {} % of a processor that the recorder had",
                        cost.share().value() > 0 ? "the upper figure" : "this",
                        percent(cost.unexplained.recorder));
  if (cost.unexplained.isCertain())
    text += "; " + unexplainedText(cost.unexplained);
  if (cost.unknown.empty())
    return text;
  std::vector<std::string> named = cost.unknown;
  named.resize(std::min(kNamed, named.size()));
  text += fmt::format("; what these took is unknown: {}", fmt::join(named, ", "));
  return cost.unknown.size() > kNamed ? text + ", …" : text;
}

nlohmann::json unexplainedJson(const Unexplained& unexplained) {
  if (unexplained.error <= 0)
    return nullptr;
  return {{"share", unexplained.share}, {"error", unexplained.error}};
}

nlohmann::json costJson(const RecordingCost& cost) {
  return {{"corrected", cost.known},
          {"of", cost.ofIterations ? "iterations" : "window"},
          {"ns", cost.sum.ns},
          {"raw_ns", cost.sum.rawNs},
          {"low_ns", cost.sum.lowNs},
          {"high_ns", cost.sum.highNs},
          {"share", shareJson(cost.share())},
          {"low", shareJson(cost.low())},
          {"high", shareJson(cost.high())},
          {"unknown", cost.unknown},
          {"unexplained", unexplainedJson(cost.unexplained)},
          {"recorder_share", cost.unexplained.recorder}};
}

}  // namespace sonde::cli
