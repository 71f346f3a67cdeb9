#include "rules/step_outlier_rule.h"

#include "analysis/engine/metrics/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

namespace sonde::rules {
namespace {

using engine::metrics::median;
using engine::metrics::robustDeviation;

class StepOutlierRule : public Rule {
 public:
  explicit StepOutlierRule(const Parameters& parameters)
      : warmup_(parameters.integer("warmup")),
        window_(static_cast<std::size_t>(parameters.integer("window"))),
        minSamples_(parameters.integer("min_samples")),
        deviations_(parameters.real("deviations")),
        minExcess_(parameters.real("min_excess")),
        maxShare_(parameters.real("max_share")) {}

  void observe(const Step& step) override {
    if (seen_++ < warmup_ || step.parts.empty())
      return;
    steps_.push_back({step.number, step.parts.front().durationNs});
    if (steps_.size() > window_)
      steps_.pop_front();
  }

  Outcome judge() const override;

 private:
  struct Timed {
    std::int64_t number;
    std::int64_t durationNs;
  };

  Outcome tooFew() const;

  std::int64_t warmup_;
  std::size_t window_;
  std::int64_t minSamples_;
  double deviations_;
  double minExcess_;
  double maxShare_;
  std::int64_t seen_ = 0;
  std::deque<Timed> steps_;
};

std::string windowText(std::int64_t from, std::int64_t to) {
  return fmt::format("iterations {}-{}", from, to);
}

Outcome StepOutlierRule::tooFew() const {
  const auto have = static_cast<std::int64_t>(steps_.size());
  const std::int64_t missing = minSamples_ - have + std::max<std::int64_t>(0, warmup_ - seen_);
  Outcome outcome;
  outcome.samples = have;
  if (have > 0)
    outcome.window = windowText(steps_.front().number, steps_.back().number);
  outcome.message =
      fmt::format("{} iterations after a warm-up of {}, but {} are needed: record {} more",
                  have,
                  warmup_,
                  minSamples_,
                  missing);
  return outcome;
}

Outcome StepOutlierRule::judge() const {
  if (static_cast<std::int64_t>(steps_.size()) < minSamples_)
    return tooFew();
  std::vector<double> durations;
  durations.reserve(steps_.size());
  for (const Timed& step : steps_)
    durations.push_back(static_cast<double>(step.durationNs));
  const double typical = median(durations);
  const double limit =
      std::max(typical + deviations_ * robustDeviation(durations), typical * (1 + minExcess_));
  std::vector<Timed> outliers;
  double lost = 0;
  for (const Timed& step : steps_)
    if (const auto duration = static_cast<double>(step.durationNs); duration > limit) {
      outliers.push_back(step);
      lost += duration - typical;
    }
  std::stable_sort(outliers.begin(), outliers.end(), [](const Timed& a, const Timed& b) {
    return a.durationNs > b.durationNs;
  });

  Outcome outcome;
  outcome.samples = static_cast<std::int64_t>(steps_.size());
  outcome.window = windowText(steps_.front().number, steps_.back().number);
  outcome.value = static_cast<double>(outliers.size()) / static_cast<double>(steps_.size());
  outcome.threshold = maxShare_;
  outcome.verdict = *outcome.value > maxShare_ ? Verdict::Fired : Verdict::Pass;
  constexpr std::size_t kShown = 10;
  std::vector<std::int64_t> worst;
  for (std::size_t i = 0; i < std::min(kShown, outliers.size()); ++i)
    worst.push_back(outliers[i].number);
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
  const Timed& slowest = outliers.front();
  outcome.message = fmt::format(
      "{} of {} iterations above {:.3g} ms (median {:.3g} ms), {:.3g} ms lost; the slowest is "
      "iteration {} with {:.3g} ms",
      outliers.size(),
      steps_.size(),
      limit / 1e6,
      typical / 1e6,
      lost / 1e6,
      slowest.number,
      static_cast<double>(slowest.durationNs) / 1e6);
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
      {"warmup", std::int64_t{5}, "first iterations that are not judged", 0, 1e9},
      {"window", std::int64_t{1000}, "how many of the latest iterations are judged", 2, 1e7},
      {"min_samples", std::int64_t{20}, "with fewer the verdict is insufficient", 2, 1e7},
      {"deviations", 6.0, "robust standard deviations above the median", 0, 1e6},
      {"min_excess", 0.25, "and at least this share above the median", 0, 1e6},
      {"max_share", 0.05, "of outliers among the iterations that is still healthy", 0, 1},
  };
  info.make = [](const Parameters& parameters) -> std::unique_ptr<Rule> {
    return std::make_unique<StepOutlierRule>(parameters);
  };
  return info;
}

}  // namespace sonde::rules
