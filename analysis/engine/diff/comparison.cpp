#include "analysis/engine/diff/comparison.h"

#include "analysis/engine/diff/run_centres.h"
#include "analysis/engine/statistics/distributions.h"
#include "analysis/engine/statistics/random_effects.h"
#include "analysis/engine/statistics/rank_test.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde::engine::diff {
namespace {

using Centres = std::vector<RunCentre>;

// The least share of a run's iterations in which something must occur for a median to describe it.
constexpr double kOftenEnough = 0.75;

bool occursOften(const Observations& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const std::vector<double>& run) {
    const auto positive =
        std::count_if(run.begin(), run.end(), [](double value) { return value > 0; });
    return static_cast<double>(positive) >= kOftenEnough * static_cast<double>(run.size());
  });
}

// Compares one run with one other. The difference between identical runs is unknown. Each run is
// assumed to be off by the error of its blocks, or by the assumed noise if that is larger.
statistics::Difference ofSingleRuns(const RunCentre& a, const RunCentre& b, double noise) {
  const auto uncertain = [noise](const RunCentre& run) {
    return std::max(noise * noise, run.varianceOfBlocks) + run.shown.variance;
  };
  const auto blocks = static_cast<double>(a.blocks + b.blocks);
  return {b.shown.value - a.shown.value,
          std::sqrt(uncertain(a) + uncertain(b)),
          std::max(1.0, blocks - 2)};
}

struct Means {
  double a = 0;
  double b = 0;
  statistics::Difference difference;
};

Means meansOf(const Centres& a, const Centres& b, double scale, const Judgement& judgement) {
  if (a.size() == 1 && b.size() == 1)
    return {
        a.front().shown.value,
        b.front().shown.value,
        ofSingleRuns(
            a.front(), b.front(), std::max(judgement.runNoise, judgement.leastNoiseNs / scale))};
  const auto groupOf = [](const Centres& side) {
    statistics::Group group;
    group.reserve(side.size());
    for (const RunCentre& run : side)
      group.push_back(run.shown);
    return group;
  };
  const statistics::Group first = groupOf(a);
  const statistics::Group second = groupOf(b);
  const double between = statistics::varianceBetween({first, second});
  const auto meanA = statistics::meanOf(first, between);
  const auto meanB = statistics::meanOf(second, between);
  return {meanA.value, meanB.value, statistics::differenceOf(meanA, meanB)};
}

// Adds the error of the recording cost as one more variance, without degrees of freedom of its own.
void addError(double error, statistics::Difference& difference) {
  if (error <= 0)
    return;
  const double own = difference.error * difference.error;
  const double both = own + error * error;
  if (own > 0)
    difference.degrees *= both * both / (own * own);
  difference.error = std::sqrt(both);
}

// The recorded time as a mean over the runs that count.
double rawOf(const Observations& raw, const Centres& runs, Measure measure, double shownNs) {
  if (raw.empty())
    return shownNs;
  const Centres centres = centresOf(raw, measure, 1);
  double sum = 0;
  for (const RunCentre& run : runs)
    sum += centres[run.run].shown.value;
  return sum / static_cast<double>(runs.size());
}

// b / a − 1, for sides that are `difference` apart around `middle`. Unset if a is not positive.
// Swapping the sides gives the inverse.
std::optional<double> changeOf(double difference, double middle) {
  const double a = middle - difference / 2;
  const double b = std::max(0.0, middle + difference / 2);
  if (a <= 0)
    return std::nullopt;
  return b / a - 1;
}

Estimate estimate(const Observations& a,
                  const Observations& b,
                  Measure measure,
                  const Judgement& judgement,
                  const TakenOut& takenOut) {
  Estimate result;
  result.measure = measure;
  result.a.runs = a.size();
  result.b.runs = b.size();
  const double scale = scaleOf(a, b, measure);
  if (scale <= 0)
    return result;
  Centres ofA = centresOf(a, measure, scale);
  Centres ofB = centresOf(b, measure, scale);
  moderate(ofA, ofB);
  dropDisturbed(ofA, ofB);
  Means means = meansOf(ofA, ofB, scale, judgement);
  addError(takenOut.errorNs / scale, means.difference);
  const auto shown =
      [&](double mean, const Observations& all, const Centres& kept, const auto& raw) {
        const double ns = mean * scale;
        return SideShown{ns, rawOf(raw, kept, measure, ns), kept.size(), all.size() - kept.size()};
      };
  result.a = shown(means.a, a, ofA, takenOut.rawOfA);
  result.b = shown(means.b, b, ofB, takenOut.rawOfB);
  result.error = means.difference.error;
  result.degrees = means.difference.degrees;
  result.p = statistics::twoSided(means.difference);
  const double half =
      statistics::studentQuantile((1 + judgement.confidence) / 2, result.degrees) * result.error;
  const double middle = (means.a + means.b) / 2;
  result.change = changeOf(means.difference.value, middle);
  result.low = changeOf(means.difference.value - half, middle);
  result.high = changeOf(means.difference.value + half, middle);
  return result;
}

std::vector<double> allOf(const Observations& runs) {
  std::vector<double> all;
  for (const std::vector<double>& run : runs)
    all.insert(all.end(), run.begin(), run.end());
  return all;
}

}  // namespace

std::string_view word(Measure measure) noexcept {
  constexpr std::string_view kWords[] = {"typical", "fast", "mean"};
  return kWords[static_cast<std::size_t>(measure)];
}

Comparison compare(const Observations& a,
                   const Observations& b,
                   const Judgement& judgement,
                   const TakenOut& takenOut) {
  Comparison result;
  const bool isFrequent = occursOften(a) && occursOften(b);
  // The fastest fifth may be zero although most iterations are not. Zero on both sides has no
  // error, and would count as the measure that repeats best.
  for (const Measure measure : {Measure::Typical, Measure::Fast})
    if (isFrequent && scaleOf(a, b, measure) > 0)
      result.estimates.push_back(estimate(a, b, measure, judgement, takenOut));
  result.estimates.push_back(estimate(a, b, Measure::Mean, judgement, takenOut));
  const statistics::RankTest ranks = statistics::mannWhitney(allOf(a), allOf(b));
  result.pRanks = ranks.p;
  result.leastPRanks = ranks.leastP;
  return result;
}

std::optional<double> detectable(const Estimate& estimate,
                                 const Judgement& judgement,
                                 std::size_t tests) {
  constexpr double kPower = 0.8;
  if (estimate.degrees <= 0)
    return std::nullopt;
  const double level = judgement.level / static_cast<double>(std::max<std::size_t>(tests, 1));
  const double deviations = statistics::studentQuantile(1 - level / 2, estimate.degrees) +
                            statistics::studentQuantile(kPower, estimate.degrees);
  return changeOf(deviations * estimate.error, 1);
}

std::optional<double> detectableByRank(const Observations& a,
                                       const Observations& b,
                                       const Estimate& estimate,
                                       double least,
                                       const Judgement& judgement) {
  constexpr double kMost = 10;
  constexpr double kFirst = 1e-6;
  constexpr double kStep = 1.25;
  if (estimate.b.ns <= 0)
    return std::nullopt;
  const std::vector<double> before = allOf(a);
  const auto isShown = [&](double slowdown) {
    std::vector<double> slower = allOf(b);
    for (double& each : slower)
      each *= estimate.a.ns / estimate.b.ns * (1 + slowdown);
    return statistics::mannWhitney(before, slower).p <= judgement.level;
  };
  if (isShown(least))
    return least;
  if (!isShown(kMost))
    return std::nullopt;
  double slowdown = std::max(least, kFirst);
  while (slowdown < kMost && !isShown(slowdown))
    slowdown *= kStep;
  return slowdown;
}

bool enoughIterations(std::size_t a, std::size_t b, const Judgement& judgement) {
  std::vector<double> below(a);
  std::vector<double> above(b);
  std::iota(below.begin(), below.end(), 0);
  std::iota(above.begin(), above.end(), static_cast<double>(a));
  return statistics::mannWhitney(below, above).p <= judgement.level;
}

std::size_t neededIterations(std::size_t other, const Judgement& judgement) {
  std::size_t needed = 1;
  while (!enoughIterations(other, needed, judgement))
    ++needed;
  return needed;
}

}  // namespace sonde::engine::diff
