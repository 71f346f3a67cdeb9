#include "analysis/engine/statistics/statistics.h"

#include "analysis/engine/statistics/rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace sonde::engine::metrics {
namespace {

constexpr double kNormalPerMad =
    1.4826022185056018;  // 1 / the normal distribution's upper quartile

}  // namespace

std::int64_t percentile(const std::vector<std::int64_t>& sorted, double fraction) {
  const double rank = std::ceil(fraction * static_cast<double>(sorted.size()));
  const auto index = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

double robustDeviation(const std::vector<double>& values) {
  const double centre = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values)
    distances.push_back(std::abs(value - centre));
  return kNormalPerMad * median(std::move(distances));
}

double noiseAroundTrend(const std::vector<double>& values) {
  std::vector<double> differences;
  differences.reserve(values.size() - 1);
  for (std::size_t i = 1; i < values.size(); ++i)
    differences.push_back(std::abs(values[i] - values[i - 1]));
  return kNormalPerMad * median(std::move(differences)) / std::sqrt(2.0);
}

double probabilityNotLower(const std::vector<double>& lower, const std::vector<double>& upper) {
  return statistics::mannWhitney(lower, upper).pLower;
}

}  // namespace sonde::engine::metrics
