#include "analysis/engine/replay/comparison.h"

#include <cmath>

namespace sonde::engine::replay {

double Sample::mean() const {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double Sample::variance() const {
  if (values.size() < 2)
    return 0;
  const double centre = mean();
  double sum = 0;
  for (const double value : values)
    sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(values.size() - 1);
}

double Sample::varianceOfMean() const {
  return values.empty() ? 0 : variance() / static_cast<double>(values.size());
}

std::optional<double> Comparison::partOf(const std::optional<double>& squared) const {
  if (!squared)
    return std::nullopt;
  return measuredNs > 0 ? std::sqrt(*squared) / measuredNs : 0;
}

Comparison comparisonOf(const std::vector<Lengths>& groups) {
  Comparison sum;
  double variance = 0;
  double varianceOfError = 0;
  double freedom = 0;
  double freedomOfError = 0;
  for (const Lengths& each : groups) {
    if (each.measured.values.empty() || each.replayed.values.empty())
      continue;
    const auto count = static_cast<double>(each.measured.values.size());
    sum.iterations += static_cast<std::int64_t>(each.measured.values.size());
    sum.measuredNs += count * each.measured.mean();
    sum.replayedNs += count * each.replayed.mean();
    variance += (count - 1) * each.measured.variance();
    freedom += count - 1;
    freedomOfError += count - 1 + static_cast<double>(each.replayed.values.size() - 1);
    varianceOfError +=
        count * count * (each.measured.varianceOfMean() + each.replayed.varianceOfMean());
  }
  const double scale = sum.iterations > 0 ? 1 / static_cast<double>(sum.iterations) : 0;
  sum.measuredNs *= scale;
  sum.replayedNs *= scale;
  if (freedom > 0)
    sum.variance = variance / freedom;
  if (freedomOfError > 0)
    sum.varianceOfError = varianceOfError * scale * scale;
  return sum;
}

}  // namespace sonde::engine::replay
