#include "analysis/engine/statistics/statistics.h"
#include "rules/builtin/series.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sonde::rules {
namespace {

using engine::metrics::median;
using engine::metrics::noiseAroundTrend;
using engine::metrics::probabilityNotLower;

// Standard normal quantiles: a one-sided test at 5 %, and a detection rate of 80 %.
constexpr double kTestQuantile = 1.645;
constexpr double kPowerQuantile = 0.842;

struct LossTrend {
  double before;      // median of the older half
  double after;       // of the newer half
  double drop;        // as a share of `before`; negative: a rise
  double detectable;  // smallest drop that this number of values with this noise can show
  double noise;       // relative to `before`
};

LossTrend trendOf(const std::vector<double>& older, const std::vector<double>& newer) {
  std::vector<double> all = older;
  all.insert(all.end(), newer.begin(), newer.end());
  LossTrend trend{};
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

// Says how many values would show whether the loss falls.
std::string hiddenByNoise(const LossTrend& trend,
                          const std::string& change,
                          std::int64_t samples,
                          const Parameters& parameters) {
  const double resolution = parameters.real("resolution");
  const std::int64_t window = parameters.integer("window");
  const double more = trend.detectable / resolution;
  const auto have = static_cast<double>(samples);
  const double needed = std::ceil(have * more * more);
  return fmt::format(
      "{}, but noise of {:.1f} % hides drops below {:.1f} %: {} needed to detect {:g} %",
      change,
      100 * trend.noise,
      100 * trend.detectable,
      samples < window && needed <= static_cast<double>(window)
          ? fmt::format("{:.0f} more iterations are", needed - have)
          : fmt::format("a window of {:.0f} iterations is", needed),
      100 * resolution);
}

Outcome judgeTrend(Outcome outcome, std::vector<double> older, const Parameters& parameters) {
  const auto half = older.begin() + static_cast<std::ptrdiff_t>(older.size() / 2);
  const std::vector<double> newer(half, older.end());
  older.erase(half, older.end());
  const LossTrend trend = trendOf(older, newer);
  const double minDrop = parameters.real("min_drop");
  const double maxRise = parameters.real("max_rise");
  const double significance = parameters.real("significance");
  const double convergedBelow = parameters.real("converged_below");
  outcome.value = trend.drop;
  outcome.threshold = minDrop;
  outcome.evidence["median_before"] = trend.before;
  outcome.evidence["median_after"] = trend.after;
  outcome.evidence["noise"] = trend.noise;
  const std::string change = fmt::format("median '{}' went from {:.4g} to {:.4g} ({:+.2f} %)",
                                         parameters.text("scalar"),
                                         trend.before,
                                         trend.after,
                                         -100 * trend.drop);
  const bool falls = trend.drop >= minDrop && probabilityNotLower(newer, older) < significance;
  if (falls || trend.after <= convergedBelow) {
    outcome.verdict = Verdict::Pass;
    outcome.message =
        falls ? change : fmt::format("{}, below converged_below = {:g}", change, convergedBelow);
    return outcome;
  }
  if (-trend.drop > maxRise && probabilityNotLower(older, newer) < significance) {
    outcome.verdict = Verdict::Fired;
    outcome.threshold = -maxRise;
    outcome.message = fmt::format("the loss rises: {}, more than {:g} %", change, 100 * maxRise);
    return outcome;
  }
  if (trend.detectable > parameters.real("resolution")) {
    outcome.message = hiddenByNoise(trend, change, outcome.samples, parameters);
    return outcome;
  }
  outcome.verdict = Verdict::Fired;
  outcome.message =
      fmt::format("the loss does not decrease: {}, a drop of at least {:g} % was expected",
                  change,
                  100 * minDrop);
  return outcome;
}

EvidenceValue numberOrWord(double value) {
  return std::isfinite(value) ? EvidenceValue(value) : EvidenceValue(fmt::format("{}", value));
}

Outcome judgeLoss(const ProcessView& view, const Parameters& parameters) {
  const std::string& scalar = parameters.text("scalar");
  const auto losses = newest(view.scalar(scalar), parameters.integer("window"));
  if (losses.empty())
    return scalarMissing(view, scalar, "scalar");
  Outcome outcome = outcomeOf(losses);
  outcome.evidence = {{"scalar", scalar},
                      {"first", numberOrWord(losses.front().value)},
                      {"last", numberOrWord(losses.back().value)}};
  const auto bad = std::find_if(
      losses.begin(), losses.end(), [](const auto& loss) { return !std::isfinite(loss.value); });
  if (bad != losses.end()) {
    outcome.verdict = Verdict::Fired;
    outcome.message = fmt::format("'{}' is {} at iteration {}", scalar, bad->value, bad->iteration);
    outcome.evidence["iteration"] = bad->iteration;
    return outcome;
  }
  const std::int64_t needed = parameters.integer("min_samples");
  if (outcome.samples < needed) {
    outcome.message = fmt::format("{} values of '{}', but {} are needed: record {} more iterations",
                                  outcome.samples,
                                  scalar,
                                  needed,
                                  needed - outcome.samples);
    return outcome;
  }
  return judgeTrend(std::move(outcome), valuesOf(losses), parameters);
}

}  // namespace

RuleInfo lossNotDecreasing() {
  RuleInfo info;
  info.name = "loss-not-decreasing";
  info.alias = "LossNotDecreasing";
  info.profile = Profile::Ci;
  info.isOptional = true;
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
      "how many iterations are needed. A loss that is NaN or infinite fires at once. Without any "
      "loss it counts only if\n"
      "a rules file names it.";
  info.needs = "annotation";
  info.hint =
      "lower the learning rate, check the data and labels, and look at the gradients with "
      "`--sources +tensor`";
  info.next = {
      "sonde sql TRACE \"SELECT s.iteration, s.value FROM scalar s JOIN string n ON n.id = "
      "s.name_id WHERE n.text = 'loss'\""};
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
  info.judge = ProcessJudge(judgeLoss);
  return info;
}

}  // namespace sonde::rules
