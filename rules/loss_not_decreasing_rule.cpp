#include "rules/loss_not_decreasing_rule.h"

#include "analysis/engine/statistics/statistics.h"
#include "rules/step_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::rules {
namespace {

using engine::metrics::median;
using engine::metrics::noiseAroundTrend;
using engine::metrics::probabilityNotLower;

// Standard normal quantiles: a one-sided test at 5 %, and a detection rate of 80 %.
constexpr double kTestQuantile = 1.645;
constexpr double kPowerQuantile = 0.842;

class LossNotDecreasingRule : public Rule {
 public:
  explicit LossNotDecreasingRule(const Parameters& parameters)
      : scalar_(parameters.text("scalar")),
        window_(parameters.integer("window")),
        minSamples_(parameters.integer("min_samples")),
        minDrop_(parameters.real("min_drop")),
        maxRise_(parameters.real("max_rise")),
        significance_(parameters.real("significance")),
        resolution_(parameters.real("resolution")),
        convergedBelow_(parameters.real("converged_below")) {}

  void observe(const Step& step) override;
  void observeStray(const StrayScalars& scalars) override {
    const auto found = scalars.find(scalar_);
    stray_ = found == scalars.end() ? 0 : found->second;
  }
  Outcome judge() const override;

 private:
  struct Trend {
    double before;      // median of the older half
    double after;       // of the newer half
    double drop;        // as a share of `before`; negative: a rise
    double detectable;  // smallest drop that this number of values with this noise can show
    double noise;       // relative to `before`
  };

  Outcome described() const;
  Outcome missing(Outcome outcome) const;
  Outcome judgeTrend(Outcome outcome) const;
  Trend trendOf(const std::vector<double>& older, const std::vector<double>& newer) const;

  std::string scalar_;
  StepWindow window_;
  std::int64_t minSamples_;
  double minDrop_;
  double maxRise_;
  double significance_;
  double resolution_;
  double convergedBelow_;
  std::int64_t iterations_ = 0;
  std::int64_t stray_ = 0;
};

void LossNotDecreasingRule::observe(const Step& step) {
  ++iterations_;
  if (step.parts.empty())
    return;
  // Gradient accumulation records several losses per iteration; their mean counts.
  double sum = 0;
  int count = 0;
  for (const auto& [name, value] : step.parts.front().scalars)
    if (name == scalar_) {
      sum += value;
      ++count;
    }
  if (count == 0)
    return;
  window_.add(step.number, sum / count);
}

Outcome LossNotDecreasingRule::described() const {
  Outcome outcome = window_.outcome();
  if (const auto& losses = window_.steps(); !losses.empty())
    outcome.evidence = {
        {"scalar", scalar_}, {"first", losses.front().value}, {"last", losses.back().value}};
  return outcome;
}

Outcome LossNotDecreasingRule::missing(Outcome outcome) const {
  outcome.inputMissing = window_.count() == 0 && stray_ == 0;
  if (window_.count() == 0 && stray_ > 0)
    outcome.message = fmt::format(
        "none of the {} values of '{}' belongs to one of the {} iterations: record it inside an "
        "iteration, or after it on the same thread",
        stray_,
        scalar_,
        iterations_);
  else if (outcome.inputMissing)
    outcome.message = fmt::format(
        "no scalar '{0}' in {1} iterations: record one with sonde.scalar(\"{0}\", value), or set "
        "the parameter scalar",
        scalar_,
        iterations_);
  else
    outcome.message = fmt::format("{} values of '{}', but {} are needed: record {} more iterations",
                                  window_.count(),
                                  scalar_,
                                  minSamples_,
                                  minSamples_ - window_.count());
  return outcome;
}

LossNotDecreasingRule::Trend LossNotDecreasingRule::trendOf(
    const std::vector<double>& older, const std::vector<double>& newer) const {
  std::vector<double> all = older;
  all.insert(all.end(), newer.begin(), newer.end());
  Trend trend{};
  trend.before = median(older);
  trend.after = median(newer);
  const double noise = noiseAroundTrend(all);
  // A loss may cross zero. Then it is compared with its noise instead of a level near zero.
  const double level = std::max({std::abs(trend.before), noise, 1e-300});
  trend.drop = (trend.before - trend.after) / level;
  trend.noise = noise / level;
  trend.detectable =
      (kTestQuantile + kPowerQuantile) * trend.noise *
      std::sqrt(1.0 / static_cast<double>(older.size()) + 1.0 / static_cast<double>(newer.size()));
  return trend;
}

Outcome LossNotDecreasingRule::judge() const {
  Outcome outcome = described();
  const auto& losses = window_.steps();
  const auto bad = std::find_if(
      losses.begin(), losses.end(), [](const auto& loss) { return !std::isfinite(loss.value); });
  if (bad != losses.end()) {
    outcome.verdict = Verdict::Fired;
    outcome.message =
        fmt::format("'{}' is {} at iteration {}", scalar_, bad->value, bad->iteration);
    outcome.evidence["iteration"] = bad->iteration;
    for (const char* key : {"first", "last"})
      if (!std::isfinite(std::get<double>(outcome.evidence[key])))
        outcome.evidence[key] = fmt::format("{}", std::get<double>(outcome.evidence[key]));
    return outcome;
  }
  if (window_.count() < std::max<std::int64_t>(minSamples_, 2))
    return missing(std::move(outcome));
  return judgeTrend(std::move(outcome));
}

Outcome LossNotDecreasingRule::judgeTrend(Outcome outcome) const {
  std::vector<double> older = window_.values();
  const auto half = older.begin() + window_.count() / 2;
  const std::vector<double> newer(half, older.end());
  older.erase(half, older.end());
  const Trend trend = trendOf(older, newer);
  outcome.value = trend.drop;
  outcome.threshold = minDrop_;
  outcome.evidence["median_before"] = trend.before;
  outcome.evidence["median_after"] = trend.after;
  outcome.evidence["noise"] = trend.noise;
  const std::string change = fmt::format("median '{}' went from {:.4g} to {:.4g} ({:+.2f} %)",
                                         scalar_,
                                         trend.before,
                                         trend.after,
                                         -100 * trend.drop);
  const bool falls = trend.drop >= minDrop_ && probabilityNotLower(newer, older) < significance_;
  if (falls || trend.after <= convergedBelow_) {
    outcome.verdict = Verdict::Pass;
    outcome.message =
        falls ? change : fmt::format("{}, below converged_below = {:g}", change, convergedBelow_);
    return outcome;
  }
  if (-trend.drop > maxRise_ && probabilityNotLower(older, newer) < significance_) {
    outcome.verdict = Verdict::Fired;
    outcome.threshold = -maxRise_;
    outcome.message = fmt::format("the loss rises: {}, more than {:g} %", change, 100 * maxRise_);
    return outcome;
  }
  if (trend.detectable > resolution_) {
    const double more = trend.detectable / resolution_;
    const auto have = static_cast<double>(window_.count());
    const double needed = std::ceil(have * more * more);
    outcome.message = fmt::format(
        "{}, but noise of {:.1f} % hides drops below {:.1f} %: {} needed to detect {:g} %",
        change,
        100 * trend.noise,
        100 * trend.detectable,
        window_.count() < window_.limit() && needed <= static_cast<double>(window_.limit())
            ? fmt::format("{:.0f} more iterations are", needed - have)
            : fmt::format("a window of {:.0f} iterations is", needed),
        100 * resolution_);
    return outcome;
  }
  outcome.verdict = Verdict::Fired;
  outcome.message =
      fmt::format("the loss does not decrease: {}, a drop of at least {:g} % was expected",
                  change,
                  100 * minDrop_);
  return outcome;
}

}  // namespace

RuleInfo lossNotDecreasingRule() {
  RuleInfo info;
  info.name = "loss-not-decreasing";
  info.alias = "LossNotDecreasing";
  info.profile = "ci";
  info.scope = Scope::Process;
  info.summary = "the loss stalls, rises, or is not a number";
  info.details =
      "Compares the older with the newer half of the last `window` losses, by their medians and a "
      "Mann-Whitney test.\n"
      "It passes when the median fell by the share `min_drop` or more and the test finds that "
      "significant; it fires when\n"
      "the median rose by more than `max_rise`, significantly, or when it did not fall although "
      "the noise is small\n"
      "enough for a drop of `resolution` to be seen. When noise would hide that, the verdict is "
      "insufficient and says\n"
      "how many iterations are needed. A loss that is NaN or infinite fires at once.";
  info.parameters = {
      {"scalar", std::string("loss"), "name of the recorded scalar"},
      {"window", std::int64_t{100}, "number of latest values to judge", 4, 1e7},
      {"min_samples", std::int64_t{20}, "with fewer the verdict is insufficient", 4, 1e7},
      {"min_drop",
       0.001,
       "share by which the median must fall from the older to the newer half",
       0,
       1},
      {"max_rise", 0.05, "share by which it may rise if the noise is large", 0, 1e6},
      {"significance", 0.05, "highest probability of a false pass or rise in the test", 1e-9, 0.5},
      {"resolution",
       0.05,
       "the rule reports no drop only if it could detect a drop of this share",
       1e-6,
       1e6},
      {"converged_below",
       -std::numeric_limits<double>::infinity(),
       "a median at or below this is healthy whatever its trend"},
  };
  info.make = makeRule<LossNotDecreasingRule>;
  return info;
}

}  // namespace sonde::rules
