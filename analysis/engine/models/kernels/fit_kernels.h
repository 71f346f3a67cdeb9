// Fits models of operators to measured times. Plain values; any thread.
#pragma once

#include "analysis/engine/models/kernels/kernel_model.h"
#include "analysis/engine/models/kernels/operator_work.h"

#include <cstddef>
#include <vector>

namespace sonde::engine::models {

// Each is a fit of all the others, so that the time is quadratic.
inline constexpr std::size_t kMostHeldOut = 200;

// Operators of the same work.
struct KernelPoint {
  OperatorWork work;
  double ns = 0;  // their typical time; more than 0
};

// Least squares of relative errors for a roofline, of logarithms for a power law, no parameter
// below 0 (but the power law's factor). Only bytes count for the kind Memory. The form is the one
// that predicts sizes better that are left out.
//
// `error` and `logError` come from leaving out each point in turn, with all others whose flops and
// bytes are within 10 % of its own. If there are many points, this uses kMostHeldOut of them,
// spread evenly from the least work to the most. With fewer than three points that can be spared,
// or fewer than three others, a roofline is fitted and both are assumed: one half and a factor
// of 2. With one point the time is in proportion to the work. Requires: `points` is not empty and
// has one kind and type.
//
// Source: "Roofline: An Insightful Visual Performance Model for Multicore Architectures" (Williams
// et al., CACM 2009), with a constant for the launch.
KernelModel fitKernels(const std::vector<KernelPoint>& points, bool isOnDevice);

}  // namespace sonde::engine::models
