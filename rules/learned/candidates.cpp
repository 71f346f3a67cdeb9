#include "rules/learned/candidates.h"

#include "analysis/engine/statistics/distributions.h"
#include "analysis/engine/statistics/series.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

namespace sonde::rules {
namespace {

namespace statistics = engine::statistics;

using Texts = std::set<std::string>;

Texts valuesFrom(const RunTexts& texts, std::int64_t from) {
  Texts values;
  for (const auto& [tick, text] : texts)
    if (tick.iteration >= from)
      values.insert(text);
  return values;
}

// The warm-up is needed only as far as its values differ.
std::int64_t earliestStart(const std::vector<RunTexts>& runs,
                           const std::vector<std::int64_t>& firsts,
                           const Texts& values) {
  std::int64_t from = 0;
  for (std::size_t run = 0; run < runs.size(); ++run)
    for (const auto& [tick, text] : runs[run])
      if (!values.contains(text))
        from = std::max(from, tick.iteration - firsts[run] + 1);
  return from;
}

// The last iteration of the stage that begins at this one, counted from 0.
std::int64_t lastOfStage(std::int64_t first) {
  return first + first / 4;
}

std::int64_t firstIteration(const std::vector<RunNumbers>& runs) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const RunNumbers& run : runs)
    for (const auto& [tick, number] : run)
      first = std::min(first, tick.iteration);
  return first;
}

std::int64_t lastIteration(const std::vector<RunNumbers>& runs) {
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const RunNumbers& run : runs)
    for (const auto& [tick, number] : run)
      last = std::max(last, tick.iteration);
  return last;
}

// False: a run has no value in the stage.
bool fillStage(const std::vector<RunNumbers>& runs, bool isLog, StageExtremes& stage) {
  for (const RunNumbers& run : runs) {
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (const auto& [tick, number] : run)
      if (tick.iteration >= stage.first && tick.iteration <= stage.last) {
        low = std::min(low, number);
        high = std::max(high, number);
      }
    if (low > high)
      return false;
    stage.lows.push_back(isLog ? std::log(low) : low);
    stage.highs.push_back(isLog ? std::log(high) : high);
  }
  return true;
}

std::vector<double> allBut(const std::vector<double>& values, std::size_t without) {
  std::vector<double> rest;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i != without)
      rest.push_back(values[i]);
  return rest;
}

// JSON has no infinity.
double storable(double bound) {
  return std::clamp(
      bound, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
}

// How far one more run may be from the mean of these.
double reach(const std::vector<double>& extremes, const RangeSettings& settings) {
  const auto count = static_cast<double>(extremes.size());
  const double variance = std::max(statistics::variance(extremes), settings.familyVariance);
  const double t = -statistics::studentQuantile(settings.tail, count - 1);
  const double least =
      std::max(settings.leastRoom, kSameShare * std::abs(statistics::mean(extremes)));
  return std::max(least, t * std::sqrt(variance * (1 + 1 / count)));
}

}  // namespace

Candidate<OneOf> learnTexts(const std::vector<RunTexts>& runs,
                            const std::vector<std::int64_t>& firsts) {
  Texts common;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (runs[run].size() < kLeastSamples)
      return {std::nullopt, Dropped::TooFewSamples};
    Texts values = valuesFrom(runs[run], firsts[run] + kLearnedWarmUp);
    if (values.empty())
      return {std::nullopt, Dropped::TooFewSamples};
    if (run > 0 && values != common)
      return {std::nullopt, Dropped::BrokenByHeldOut};
    common = std::move(values);
    if (common.size() > kMostValues)
      return {std::nullopt, Dropped::Varies};
  }
  OneOf form;
  form.from = earliestStart(runs, firsts, common);
  form.values.assign(common.begin(), common.end());
  return {std::move(form)};
}

std::optional<Path> learnPath(const std::vector<RunNumbers>& runs) {
  std::map<std::int64_t, double> path;
  for (const RunNumbers& run : runs)
    for (const auto& [tick, number] : run) {
      const auto [known, isNew] = path.try_emplace(tick.iteration, number);
      if (std::abs(known->second - number) > kSameShare * std::abs(known->second))
        return std::nullopt;
    }
  const std::int64_t first = path.begin()->first;
  const std::int64_t length = path.rbegin()->first - first + 1;
  if (length > static_cast<std::int64_t>(kMostObserved))
    return std::nullopt;
  Path form{first, std::vector<double>(static_cast<std::size_t>(length), std::nan(""))};
  for (const auto& [iteration, number] : path)
    form.values[static_cast<std::size_t>(iteration - first)] = number;
  return form;
}

std::optional<Law> learnLaw(const std::vector<RunUpdates>& runs) {
  std::map<std::int64_t, std::vector<UpdatePoint>> points;
  for (const RunUpdates& run : runs) {
    std::set<std::int64_t> known;  // ranks come one after the other
    for (const auto& [tick, point] : run)
      if (known.insert(tick.iteration).second)
        points[tick.iteration].push_back(point);
  }
  std::map<std::int64_t, UpdateFactors> factors;
  for (const auto& [iteration, each] : points) {
    if (each.size() < runs.size())
      continue;
    const auto law = learnUpdate(each);
    if (!law)
      return std::nullopt;
    factors[iteration] = *law;
  }
  if (factors.size() < kLeastSamples)
    return std::nullopt;
  const std::int64_t first = factors.begin()->first;
  const std::int64_t length = factors.rbegin()->first - first + 1;
  if (length > static_cast<std::int64_t>(kMostObserved))
    return std::nullopt;
  const double unknown = std::nan("");
  Law law{first,
          std::vector<UpdateFactors>(static_cast<std::size_t>(length),
                                     UpdateFactors{unknown, unknown, unknown})};
  for (const auto& [iteration, each] : factors)
    law.factors[static_cast<std::size_t>(iteration - first)] = each;
  return law;
}

RangeCandidate stagesOf(const std::vector<RunNumbers>& runs, bool isLog) {
  RangeCandidate candidate;
  candidate.isLog = isLog;
  const std::int64_t begin = firstIteration(runs);
  const std::int64_t end = lastIteration(runs);
  for (std::int64_t first = begin; first <= end;) {
    StageExtremes stage;
    stage.first = first;
    stage.last = begin + lastOfStage(first - begin);
    first = stage.last + 1;
    if (fillStage(runs, candidate.isLog, stage))
      candidate.stages.push_back(std::move(stage));
  }
  return candidate;
}

std::vector<double> variancesOf(const RangeCandidate& candidate) {
  std::vector<double> variances;
  for (const StageExtremes& stage : candidate.stages)
    for (const auto* extremes : {&stage.lows, &stage.highs})
      variances.push_back(statistics::variance(*extremes));
  return variances;
}

Range rangeOf(const RangeCandidate& candidate, const RangeSettings& settings, std::size_t without) {
  Range range;
  for (const StageExtremes& each : candidate.stages) {
    const std::vector<double> lows = allBut(each.lows, without);
    const std::vector<double> highs = allBut(each.highs, without);
    const double low = statistics::mean(lows) - reach(lows, settings);
    const double high = statistics::mean(highs) + reach(highs, settings);
    range.stages.push_back({each.first,
                            each.last,
                            storable(candidate.isLog ? std::exp(low) : low),
                            storable(candidate.isLog ? std::exp(high) : high)});
  }
  return range;
}

bool isWithin(const RangeCandidate& candidate, const Range& range, std::size_t run) {
  for (std::size_t i = 0; i < range.stages.size(); ++i) {
    const StageExtremes& stage = candidate.stages[i];
    const double low = candidate.isLog ? std::exp(stage.lows[run]) : stage.lows[run];
    const double high = candidate.isLog ? std::exp(stage.highs[run]) : stage.highs[run];
    if (!(low >= range.stages[i].low && high <= range.stages[i].high))
      return false;
  }
  return true;
}

}  // namespace sonde::rules
