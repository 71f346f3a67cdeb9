// How much recording prolongs iterations: a linear model. Its coefficients are factors by which the
// costs of each probe must be multiplied. A pure function; any thread.
//
//   duration = level (and slope) of its stretch of time + Σ factor · cost + noise
//
// Machines drift, so each stretch has its own level and only differences from it count. Durations
// have heavy tails, so large residuals weigh less (Huber, by iteratively reweighted least squares).
// Iterations of one block are not independent, so standard errors come from leaving out each block
// in turn (CR3: Bell and McCaffrey 2002). They are scaled so that 1.96 of them give an interval of
// 95 %, even with few blocks. Prior knowledge of a factor counts as one more observation of it.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <vector>

namespace sonde::engine::calibration {

struct Observation {
  double durationNs = 0;
  std::vector<double> costNs;  // by probe: cost of its recording, as far as is known now
  std::size_t stretch = 0;
  std::size_t block = 0;
};

// The parameters of each stretch: a level, or a level and a slope over time.
enum class Trend { Level, Slope };

// The standard error of each factor's prior, which is 1. Infinite: nothing is known.
using PriorErrors = std::vector<double>;

struct Factors {
  std::vector<double> values;                   // by probe
  std::vector<std::vector<double>> covariance;  // of them
  double noiseNs = 0;                           // standard deviation of an iteration
  std::size_t blocks = 0;
};

// `observations`: in the order of time. NotFound: there are too few blocks, or all blocks recorded
// the same.
Result<Factors> fitFactors(const std::vector<Observation>& observations,
                           Trend trend,
                           const PriorErrors& priors);

}  // namespace sonde::engine::calibration
