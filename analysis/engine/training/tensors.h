// The statistics of a tensor over iterations, with histograms on a common axis. Plain values;
// reading uses the database's thread. Times are on the job's common clock.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::training {

struct TensorName {
  std::int64_t processId = 0;
  std::string process;  // "rank 3", or "process 4711"
  std::optional<std::int64_t> rank;
  std::string collection;
  std::string name;
  std::int64_t count = 0;     // of iterations in which it was read
  std::int64_t elements = 0;  // the most

  bool operator==(const TensorName&) const = default;
};

// By process, collection and name.
Result<std::vector<TensorName>> tensorNames(const store::Database& trace,
                                            const std::vector<metrics::RankProcess>& ranks);

// Elements from `begin` to the next bin's begin. The last bin of a histogram only ends it.
struct TensorBin {
  double begin = 0;
  double elements = 0;
};

struct TensorPoint {
  std::int64_t iteration = 0;
  metrics::Interval time{};  // of the iteration; empty, at the tensor's time, if that is unknown
  // These cover the finite elements; NaN: there are none.
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  double l2 = 0;
  double p01 = 0;
  double p99 = 0;
  std::int64_t elements = 0;
  std::int64_t notFinite = 0;  // NaN or infinite
  std::vector<TensorBin> histogram;
};

// By time. Histograms that are damaged are left out.
Result<std::vector<TensorPoint>> tensorPoints(const store::Database& trace, const TensorName& of);

// Histograms of some points in bins of equal width, from the lowest 1 % quantile of all points to
// the highest 99 % quantile.
struct Ridges {
  double low = 0;
  double high = 0;
  std::vector<std::size_t> points;           // in the points that it was made of
  std::vector<std::vector<double>> density;  // by ridge, then by bin: the share of its elements
};

// At most `most` ridges, from evenly spaced points. Empty without histograms. Requires: bins > 0.
Ridges ridgesOf(const std::vector<TensorPoint>& points, std::size_t most, std::size_t bins);

}  // namespace sonde::engine::training
