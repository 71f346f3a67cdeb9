// Count, sum and percentiles of values of one kind. Percentiles are nearest-rank, so each is one of
// the values. Plain values.
#pragma once

#include "analysis/engine/statistics/statistics.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace sonde::engine::device {

struct Spread {
  std::int64_t count = 0;
  std::int64_t total = 0;
  std::int64_t p50 = 0;
  std::int64_t p95 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
};

// All 0 without values.
inline Spread spreadOf(std::vector<std::int64_t> values) {
  if (values.empty())
    return {};
  std::sort(values.begin(), values.end());
  return {static_cast<std::int64_t>(values.size()),
          std::accumulate(values.begin(), values.end(), std::int64_t{0}),
          metrics::percentile(values, 0.5),
          metrics::percentile(values, 0.95),
          metrics::percentile(values, 0.99),
          values.back()};
}

}  // namespace sonde::engine::device
