// Order statistics and distribution-free tests. Step times and losses have heavy tails, so nothing
// here uses a mean of values with possible outliers. Pure functions over plain values; any thread.
#pragma once

#include "analysis/engine/statistics/series.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::metrics {

// The smallest value with at least `fraction` of the values at or below it (nearest rank); always
// one of the values. Requires: `sorted` is ascending and not empty, 0 < fraction <= 1.
std::int64_t percentile(const std::vector<std::int64_t>& sorted, double fraction);

using statistics::median;

// The median distance from the median, times 1.4826: equals the standard deviation of normal
// values.
double robustDeviation(const std::vector<double>& values);

// The noise around a slow trend, from differences of neighbours: equals the standard deviation of
// independent normal noise, for any trend. Requires: at least two values.
double noiseAroundTrend(const std::vector<double>& values);

// The probability of a rank sum this low if both samples have one distribution; small if `lower`
// tends to be below `upper`. Mann-Whitney U, one-sided (statistics/rank_test.h). Requires: neither
// is empty.
double probabilityNotLower(const std::vector<double>& lower, const std::vector<double>& upper);

}  // namespace sonde::engine::metrics
