// The kernels of a job with what is known of their work, and the peaks of their device. Uses the
// database's thread.
#pragma once

#include "analysis/engine/models/kernels/device_peaks.h"
#include "analysis/engine/models/kernels/operator_times.h"
#include "analysis/engine/whatif/compute/kernel_scaling.h"
#include "analysis/engine/whatif/question.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::engine::whatif {

struct DeviceKernels {
  DeviceKernels() = default;
  DeviceKernels(DeviceKernels&&) = default;  // a copy's kernels would point into the original
  DeviceKernels& operator=(DeviceKernels&&) = default;

  models::OperatorTimes times;  // `kernels` point into it
  std::vector<ScaledKernel> kernels;
};

// All but collectives. NotFound: there are none.
Result<DeviceKernels> readDeviceKernels(const Asking& asking);

struct PresentDevice {
  std::string name;  // empty: not recorded
  // nullptr: unknown, or those of several devices differ.
  const models::DevicePeaks* peaks = nullptr;
};
Result<PresentDevice> presentDevice(const store::Database& trace);
// The error if its peaks are unknown, with the way out.
Error unknownPeaks(const PresentDevice& device, const char* advice);

}  // namespace sonde::engine::whatif
