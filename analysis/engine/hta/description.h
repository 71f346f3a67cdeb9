// The statistics that pandas' `describe` reports for a column: interpolated percentiles, and the
// standard deviation of a sample. Pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::hta {

struct Description {
  std::int64_t count = 0;
  double mean = 0;
  std::optional<double> deviation;  // unset for a single value
  double min = 0;
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  double max = 0;
};

// Requires: `sorted` is ascending and not empty.
inline double interpolated(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - std::floor(place));
}

inline double meanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

inline std::optional<double> deviationOf(const std::vector<double>& values) {
  if (values.size() < 2)
    return std::nullopt;
  const double mean = meanOf(values);
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

inline Description describe(std::vector<double> values) {
  if (values.empty())
    return {};
  std::sort(values.begin(), values.end());
  return {static_cast<std::int64_t>(values.size()),
          meanOf(values),
          deviationOf(values),
          values.front(),
          interpolated(values, 0.25),
          interpolated(values, 0.5),
          interpolated(values, 0.75),
          values.back()};
}

}  // namespace sonde::engine::hta
