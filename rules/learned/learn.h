// Learns invariants from good runs, as TrainCheck does: candidates that held in every run and
// iteration, with enough samples, and that no held-out run breaks. Ranges are prediction intervals,
// so that runs with other seeds stay inside. Plain functions; any thread.
//
// A range: each run gives one extreme of a series in a stage, a group of neighbouring iterations.
// The extremes of N runs, or their logarithms (isPositive()), are taken as normal. The
// bound is mean ± t·s·√(1 + 1/N), for one more run (G. J. Hahn, "Factors for calculating two-sided
// prediction intervals for samples from a normal distribution", JASA 64, 1969). s² is the
// variance of the extremes, and at least the median one of its family (the same measure of all
// tensors of a collection), so that few runs that agree by chance give no narrow range. t is
// Student's quantile with N − 1 degrees of freedom at kFalseAlarms divided by the number of bounds
// (Bonferroni).
//
// Source: Y. Jiang et al., "Training with Confidence: Catching Silent Errors in Deep Learning
// Training with Automated Proactive Checks", OSDI 2025.
#pragma once

#include "base/result.h"
#include "rules/learned/invariants.h"

#include <vector>

namespace sonde::rules {

// The share of good runs that may leave any range at all.
inline constexpr double kFalseAlarms = 0.01;

// NotFound: fewer than kLeastLearnedRuns runs, a run without iterations, or nothing held. The
// message says what to do.
Result<LearnedInvariants> learn(const std::vector<RunObservations>& runs);

}  // namespace sonde::rules
