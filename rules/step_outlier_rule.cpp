#include "rules/step_outlier_rule.h"

#include "analysis/engine/statistics/statistics.h"
#include "rules/step_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde::rules {
namespace {

using engine::metrics::median;
using engine::metrics::robustDeviation;

class StepOutlierRule : public Rule {
 public:
  explicit StepOutlierRule(const Parameters& parameters)
      : warmup_(parameters.integer("warmup")),
        window_(parameters.integer("window")),
        minSamples_(parameters.integer("min_samples")),
        deviations_(parameters.real("deviations")),
        minExcess_(parameters.real("min_excess")),
        maxShare_(parameters.real("max_share")) {}

  void observe(const Step& step) override {
    if (step.parts.empty() || step.parts.front().isInner || seen_++ < warmup_)
      return;
    window_.add(step.number, static_cast<double>(step.parts.front().durationNs));
  }

  Outcome judge() const override;

 private:
  Outcome tooFew() const;

  std::int64_t warmup_;
  StepWindow window_;
  std::int64_t minSamples_;
  double deviations_;
  double minExcess_;
  double maxShare_;
  std::int64_t seen_ = 0;
};

Outcome StepOutlierRule::tooFew() const {
  const std::int64_t have = window_.count();
  const std::int64_t missing = minSamples_ - have + std::max<std::int64_t>(0, warmup_ - seen_);
  Outcome outcome = window_.outcome();
  outcome.message =
      fmt::format("{} iterations after a warm-up of {}, but {} are needed: record {} more",
                  have,
                  warmup_,
                  minSamples_,
                  missing);
  return outcome;
}

Outcome StepOutlierRule::judge() const {
  if (window_.count() < minSamples_)
    return tooFew();
  const std::vector<double> durations = window_.values();
  const double typical = median(durations);
  const double limit =
      std::max(typical + deviations_ * robustDeviation(durations), typical * (1 + minExcess_));
  std::vector<StepWindow::Value> outliers;
  double lost = 0;
  for (const auto& step : window_.steps())
    if (step.value > limit) {
      outliers.push_back(step);
      lost += step.value - typical;
    }
  std::stable_sort(outliers.begin(), outliers.end(), [](const auto& a, const auto& b) {
    return a.value > b.value;
  });

  Outcome outcome = window_.outcome();
  outcome.value = static_cast<double>(outliers.size()) / static_cast<double>(window_.count());
  outcome.threshold = maxShare_;
  outcome.verdict = *outcome.value > maxShare_ ? Verdict::Fired : Verdict::Pass;
  constexpr std::size_t kShown = 10;
  std::vector<std::int64_t> worst;
  for (std::size_t i = 0; i < std::min(kShown, outliers.size()); ++i)
    worst.push_back(outliers[i].iteration);
  outcome.evidence = {{"median_ns", static_cast<std::int64_t>(std::llround(typical))},
                      {"limit_ns", static_cast<std::int64_t>(std::llround(limit))},
                      {"lost_ns", static_cast<std::int64_t>(std::llround(lost))},
                      {"outliers", static_cast<std::int64_t>(outliers.size())},
                      {"worst_iterations", worst}};
  if (outliers.empty()) {
    outcome.message = fmt::format(
        "no iteration above {:.3g} ms; the median is {:.3g} ms", limit / 1e6, typical / 1e6);
    return outcome;
  }
  const StepWindow::Value& slowest = outliers.front();
  outcome.message = fmt::format(
      "{} of {} iterations above {:.3g} ms (median {:.3g} ms), {:.3g} ms lost; the slowest is "
      "iteration {} with {:.3g} ms",
      outliers.size(),
      window_.count(),
      limit / 1e6,
      typical / 1e6,
      lost / 1e6,
      slowest.iteration,
      slowest.value / 1e6);
  return outcome;
}

}  // namespace

RuleInfo stepOutlierRule() {
  RuleInfo info;
  info.name = "step-outlier";
  info.alias = "StepOutlier";
  info.profile = "performance";
  info.scope = Scope::Process;
  info.summary = "some iterations take much longer than the others";
  info.details =
      "An iteration is an outlier when it is longer than the median by `deviations` robust "
      "standard deviations\n"
      "(1.4826 times the median distance from the median) and also by the share `min_excess`. The "
      "rule fires when more\n"
      "than the share `max_share` of the last `window` iterations are outliers. The median and "
      "that deviation do not\n"
      "move with the outliers they look for, unlike a mean and its standard deviation.";
  info.parameters = {
      {"warmup", std::int64_t{5}, "number of first iterations to ignore", 0, 1e9},
      {"window", std::int64_t{1000}, "number of latest iterations to judge", 2, 1e7},
      {"min_samples", std::int64_t{20}, "with fewer the verdict is insufficient", 2, 1e7},
      {"deviations", 6.0, "robust standard deviations above the median", 0, 1e6},
      {"min_excess", 0.25, "and at least this share above the median", 0, 1e6},
      {"max_share", 0.05, "largest healthy share of outliers among the iterations", 0, 1},
  };
  info.make = makeRule<StepOutlierRule>;
  return info;
}

}  // namespace sonde::rules
