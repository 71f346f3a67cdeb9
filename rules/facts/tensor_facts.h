// The statistics of recorded tensors, by tensor. Plain values; any thread.
#pragma once

#include "analysis/model/row.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::rules {

// One recording of a tensor: a row of table `tensor`. Statistics are of the finite elements; unset
// if there are none.
struct TensorFact {
  std::int64_t iteration = 0;
  std::int64_t tsNs = 0;
  std::int64_t elements = 0;
  std::optional<double> minimum, maximum, mean, variance;
  double l1 = 0;  // sum of magnitudes
  double l2 = 0;  // root of the sum of squares
  std::int64_t zeros = 0;
  std::int64_t nans = 0;
  std::int64_t infs = 0;
  std::optional<double> p01, p05, p25, p50, p75, p95, p99;
  std::string histogram;  // JSON, as in the table; empty: none
  std::string dtype;      // "float32"
  std::string shape;      // "[64, 10]"
  std::string file;       // with the whole tensor, beside the trace; empty: none
  std::int64_t fileOffset = 0;

  std::int64_t finite() const noexcept { return elements - nans - infs; }

  SONDE_COLUMNS(iteration,
                tsNs,
                elements,
                minimum,
                maximum,
                mean,
                variance,
                l1,
                l2,
                zeros,
                nans,
                infs,
                p01,
                p05,
                p25,
                p50,
                p75,
                p95,
                p99,
                histogram,
                dtype,
                shape,
                file,
                fileOffset)
};

struct TensorSeries {
  std::string name;
  std::string collection;
  std::string role;
  std::vector<TensorFact> values;  // of closed iterations, by iteration, then by time
};

}  // namespace sonde::rules
