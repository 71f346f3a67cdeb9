// How much two recordings of a tensor differ, by their statistics. Plain functions; any thread.
#pragma once

#include "rules/facts/tensor_facts.h"

#include <cstdint>
#include <string>

namespace sonde::rules {

struct TensorDifference {
  std::string tensor;     // filled by the caller
  std::string statistic;  // "l2", "NaN"; empty: they do not differ
  double share = 0;       // infinite: they cannot be compared
};

// The greatest difference of a statistic, as a share of its scale: l2, the greatest magnitude, the
// mean magnitude, or the number of elements. Counts of NaN and infinite elements must be equal.
TensorDifference differenceOf(const TensorFact& left, const TensorFact& right);

// The last recording of an iteration; nullptr: there is none.
const TensorFact* recordingIn(const TensorSeries& series, std::int64_t iteration);

}  // namespace sonde::rules
