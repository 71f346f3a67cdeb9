// How much longer iterations take by what is recorded in them: a linear model whose coefficients
// are what each probe's costs have to be multiplied with. A pure function; any thread.
//
//   duration = level (and slope) of its stretch of time + Σ factor · cost + noise
//
// Machines drift, so each stretch has a level of its own and only what differs from it counts.
// Durations have heavy tails, so residuals weigh less the larger they are (Huber, by iteratively
// reweighted least squares). Iterations of one block are not independent, so standard errors come
// of leaving out one block after the other (CR3: Bell and McCaffrey 2002), and are such that 1.96
// of them are an interval of 95 %, however few blocks there are. What is known of a factor
// beforehand counts as one more observation of it.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <vector>

namespace sonde::engine::calibration {

struct Observation {
  double durationNs = 0;
  std::vector<double> costNs;  // by probe: what its recording cost in it, as far as is known now
  std::size_t stretch = 0;
  std::size_t block = 0;
};

// What each stretch has of its own: one after the other in time may also have a slope.
enum class Trend { Level, Slope };

// What is known of a factor before: that it is 1, with this standard error. Infinite: nothing.
using PriorErrors = std::vector<double>;

struct Factors {
  std::vector<double> values;                   // by probe
  std::vector<std::vector<double>> covariance;  // of them
  double noiseNs = 0;                           // standard deviation of an iteration
  std::size_t blocks = 0;
};

// `observations`: in the order of time. NotFound: there are too few blocks, or they do not differ
// in what was recorded.
Result<Factors> fitFactors(const std::vector<Observation>& observations,
                           Trend trend,
                           const PriorErrors& priors);

}  // namespace sonde::engine::calibration
