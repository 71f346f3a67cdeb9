// How long kernels take on another device: by the peaks of both, or by models of their operators.
// Plain values; any thread.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/models/kernels/device_peaks.h"
#include "analysis/engine/models/kernels/operator_times.h"
#include "analysis/engine/models/kernels/work_classes.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::whatif {

struct ScaledKernel {
  graph::NodeIndex node = 0;
  models::WorkClass ofClass = models::WorkClass::Other;
  bool isReduced = false;                      // numbers of two bytes or less
  bool isTensorFloat = false;                  // TF32
  const models::OperatorWork* work = nullptr;  // of its operator; nullptr: unknown
  double ns = 0;
  double factor = 0;  // how many times as long it takes then; 0: not known yet
};

// The peak that the kernel's arithmetic has on a device, in flops a nanosecond.
double arithmeticOf(const models::DevicePeaks& device, const ScaledKernel& kernel);

struct PeakFactors {
  std::optional<double> bandwidth = {};  // how many times as fast memory is
  std::optional<double> flops = {};      // and arithmetic
};

// Factors come before peaks. Requires: `factors` has both or `to` is none, or both devices are
// known (nullptr: unknown), and `kernels` is not empty.
void scaleByPeaks(std::vector<ScaledKernel>& kernels,
                  const PeakFactors& factors,
                  const models::DevicePeaks* present,
                  const models::DevicePeaks* to);

struct ModelScaling {
  std::int64_t modelled = 0;  // kernels whose operators the models were fitted to
  std::int64_t kept = 0;      // kernels that keep their times
  double error = 0;           // mean relative error
};

// `given`: models of the other device; those of the present one are fitted to `times`. NotFound:
// they have none of the kernels' operators.
Result<ModelScaling> scaleByModels(std::vector<ScaledKernel>& kernels,
                                   const models::OperatorTimes& times,
                                   const std::vector<models::KernelModel>& given);

}  // namespace sonde::engine::whatif
