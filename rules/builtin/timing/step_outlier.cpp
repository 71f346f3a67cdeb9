#include "analysis/engine/statistics/statistics.h"
#include "rules/builtin/series.h"
#include "rules/builtin/timing/timing_rules.h"
#include "rules/engine/duration_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde::rules {
namespace {

using engine::metrics::median;
using engine::metrics::robustDeviation;

Outcome tooFewSteps(Outcome outcome, const ProcessView& view, std::int64_t needed) {
  const auto warmup = static_cast<std::int64_t>(view.warmup());
  const auto ended = static_cast<std::int64_t>(view.ended());
  outcome.message =
      fmt::format("{} iterations after a warm-up of {}, but {} are needed: record {} more",
                  outcome.samples,
                  warmup,
                  needed,
                  needed - outcome.samples + std::max<std::int64_t>(0, warmup - ended));
  return outcome;
}

struct Outliers {
  std::vector<SeriesValue> steps;  // the longest first
  double lostNs = 0;               // beyond the median
};

Outliers outliersOf(std::span<const SeriesValue> durations, double typical, double limit) {
  Outliers found;
  for (const SeriesValue& step : durations)
    if (step.value > limit) {
      found.steps.push_back(step);
      found.lostNs += step.value - typical;
    }
  std::stable_sort(found.steps.begin(), found.steps.end(), [](const auto& a, const auto& b) {
    return a.value > b.value;
  });
  return found;
}

std::vector<std::int64_t> worstOf(const Outliers& outliers) {
  constexpr std::size_t kShown = 10;
  std::vector<std::int64_t> worst;
  for (std::size_t i = 0; i < std::min(kShown, outliers.steps.size()); ++i)
    worst.push_back(outliers.steps[i].iteration);
  return worst;
}

Outcome judgeStepOutliers(const ProcessView& view, const Parameters& parameters) {
  const std::vector<SeriesValue> all = durationsOf(view);
  const auto durations = newest(std::span(all), parameters.integer("window"));
  Outcome outcome = outcomeOf(durations);
  if (outcome.samples < parameters.integer("min_samples"))
    return tooFewSteps(std::move(outcome), view, parameters.integer("min_samples"));
  const std::vector<double> values = valuesOf(durations);
  const double typical = median(values);
  const double limit = std::max(typical + parameters.real("deviations") * robustDeviation(values),
                                typical * (1 + parameters.real("min_excess")));
  const Outliers outliers = outliersOf(durations, typical, limit);
  outcome.value =
      static_cast<double>(outliers.steps.size()) / static_cast<double>(durations.size());
  outcome.threshold = parameters.real("max_share");
  outcome.verdict = *outcome.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.evidence = {{"median_ns", static_cast<std::int64_t>(std::llround(typical))},
                      {"limit_ns", static_cast<std::int64_t>(std::llround(limit))},
                      {"lost_ns", static_cast<std::int64_t>(std::llround(outliers.lostNs))},
                      {"outliers", static_cast<std::int64_t>(outliers.steps.size())},
                      {"worst_iterations", worstOf(outliers)}};
  if (outliers.steps.empty()) {
    outcome.message = fmt::format(
        "no iteration above {}; the median is {}", durationText(limit), durationText(typical));
    return outcome;
  }
  const SeriesValue& slowest = outliers.steps.front();
  outcome.message = fmt::format(
      "{} of {} iterations above {} (median {}), {} lost; the slowest is iteration {} with {}",
      outliers.steps.size(),
      durations.size(),
      durationText(limit),
      durationText(typical),
      durationText(outliers.lostNs),
      slowest.iteration,
      durationText(slowest.value));
  return outcome;
}

}  // namespace

RuleInfo stepOutlier() {
  RuleInfo info;
  info.name = "step-outlier";
  info.alias = "StepOutlier";
  info.profile = Profile::Performance;
  info.summary = "some iterations take much longer than the others";
  info.details =
      "An iteration is an outlier when it is longer than the median by `deviations` robust "
      "standard deviations\n"
      "(1.4826 times the median distance from the median) and also by the share `min_excess`. The "
      "rule fires when more\n"
      "than the share `max_share` of the last `window` iterations are outliers. The median and "
      "that deviation do not\n"
      "move with the outliers they look for, unlike a mean and its standard deviation.";
  info.needs = "annotation,torch";
  info.hint =
      "compare a slow iteration with a usual one: look for I/O, garbage collection, "
      "checkpoints and waiting for other ranks";
  info.next = {"sonde breakdown TRACE --by iteration,category",
               "sonde graph TRACE --critical-path"};
  info.parameters = {
      {"warmup", std::int64_t{5}, "number of first iterations to ignore", 0, 1e9},
      {"window", std::int64_t{1000}, "number of latest iterations to judge", 2, 1e7},
      {"min_samples", std::int64_t{20}, "with fewer the verdict is insufficient", 2, 1e7},
      {"deviations", 6.0, "robust standard deviations above the median", 0, 1e6},
      {"min_excess", 0.25, "and at least this share above the median", 0, 1e6},
      {"max_share", 0.05, "largest healthy share of outliers among the iterations", 0, 1},
  };
  info.judge = ProcessJudge(judgeStepOutliers);
  return info;
}

}  // namespace sonde::rules
