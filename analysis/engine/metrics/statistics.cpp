#include "analysis/engine/metrics/statistics.h"

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

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1)
    return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
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
  std::vector<std::pair<double, bool>> all;  // value, is it of `lower`
  all.reserve(lower.size() + upper.size());
  for (const double value : lower)
    all.emplace_back(value, true);
  for (const double value : upper)
    all.emplace_back(value, false);
  std::sort(all.begin(), all.end());
  double rankSum = 0;
  double ties = 0;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].first == all[begin].first)
      ++end;
    const double shared = static_cast<double>(begin + end + 1) / 2;  // ranks count from 1
    const auto size = static_cast<double>(end - begin);
    ties += size * size * size - size;
    for (; begin < end; ++begin)
      rankSum += all[begin].second ? shared : 0;
  }
  const auto n = static_cast<double>(lower.size());
  const auto m = static_cast<double>(upper.size());
  const double total = n + m;
  const double u = rankSum - n * (n + 1) / 2;
  const double variance = n * m / 12 * (total + 1 - ties / std::max(1.0, total * (total - 1)));
  if (variance <= 0)
    return 1;  // all values are equal
  const double z = (u - n * m / 2 + 0.5) / std::sqrt(variance);
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

}  // namespace sonde::engine::metrics
