// How much longer iterations take by what is recorded in them: a linear model whose coefficients
// are what each probe's costs have to be multiplied with. A pure function; any thread.
//
//   duration = level and slope of its stretch of time + Σ factor · cost + noise
//
// Machines drift, so each stretch has its own level and slope and only what differs from them counts.
// Durations have heavy tails, so residuals weigh less the larger they are (Huber, by iteratively
// reweighted least squares). Iterations of one block are not independent, so standard errors are
// those of the blocks (Liang and Zeger 1986, with the correction for few of them). What is known of
// a factor beforehand counts as one more observation of it.
#pragma once

#include "analysis/base/result.h"

#include <cstddef>
#include <vector>

namespace sonde::engine::calibration {

struct Observation {
  double durationNs = 0;
  std::vector<double> costNs;  // by probe: what its recording cost in it, as far as is known now
  std::size_t stretch = 0;
  std::size_t block = 0;
};

// What is known of a factor before: that it is 1, with this standard error. Infinite: nothing.
using PriorErrors = std::vector<double>;

struct Factors {
  std::vector<double> values;                   // by probe
  std::vector<std::vector<double>> covariance;  // of them
  double noiseNs = 0;                           // standard deviation of an iteration
  std::size_t blocks = 0;
};

// `observations`: in the order of time. NotFound: there are too few blocks, or they do not differ in what was recorded.
Result<Factors> fitFactors(const std::vector<Observation>& observations,
                           const PriorErrors& priors);

}  // namespace sonde::engine::calibration
