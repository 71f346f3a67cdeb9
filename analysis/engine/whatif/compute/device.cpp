#include "analysis/engine/whatif/compute/device.h"

#include "analysis/engine/models/kernels/operator_times.h"
#include "analysis/engine/models/kernels/work_classes.h"
#include "analysis/engine/whatif/compute/device_kernels.h"
#include "analysis/engine/whatif/compute/kernel_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using models::WorkClass;

// The mean error that Habitat reports over six GPUs of one vendor; and the one of docs/accuracy.md
// from one vendor's device to another's.
constexpr double kOneVendor = 0.118;
constexpr double kTwoVendors = 0.4;

std::string noteOf(const std::vector<ScaledKernel>& kernels) {
  std::array<double, 2> before{};
  std::array<double, 2> after{};
  std::int64_t known = 0;
  for (const ScaledKernel& each : kernels) {
    const std::size_t which = each.ofClass == WorkClass::Matrix ? 0 : 1;
    before.at(which) += each.ns;
    after.at(which) += each.ns * each.factor;
    known += each.work != nullptr ? 1 : 0;
  }
  const auto faster = [&](std::size_t which) {
    return after.at(which) > 0 ? before.at(which) / after.at(which) : 1;
  };
  return fmt::format(
      "kernels that multiply matrices are {:.2f} times as fast together and others {:.2f} times; "
      "{} of {} have operators with recorded sizes; "
      "copies, collectives and calls keep their times",
      faster(0),
      faster(1),
      known,
      kernels.size());
}

Result<void> checkDevice(const OtherDevice& of, const models::ModelSet& models) {
  if ((of.bandwidth && !(*of.bandwidth > 0)) || (of.flops && !(*of.flops > 0)))
    return Error{ErrorCode::InvalidArgument, "how many times as fast is a number above 0"};
  if (of.isOfModels && models.kernels.empty())
    return Error{ErrorCode::InvalidArgument,
                 "to=model needs --model with a file that has models of operators"};
  return {};
}

// The relative error of the scaled times.
Result<double> scaleByDevices(Asking& asking,
                              const OtherDevice& of,
                              std::vector<ScaledKernel>& kernels) {
  SONDE_TRY_ASSIGN(const PresentDevice recorded, presentDevice(asking.trace));
  const models::DevicePeaks* present = of.from != nullptr ? of.from : recorded.peaks;
  if (of.to != nullptr && present == nullptr && !(of.bandwidth && of.flops))
    return unknownPeaks(recorded, ", or bandwidth=x… and flops=x…");
  scaleByPeaks(kernels, {of.bandwidth, of.flops}, present, of.to);
  if (of.to == nullptr || present == nullptr)
    return kOneVendor;
  asking.notes.push_back(
      fmt::format("published peaks of {} in place of {}", of.to->name, present->name));
  return of.to->vendor == present->vendor ? kOneVendor : kTwoVendors;
}

Result<double> scaleByGiven(Asking& asking,
                            const models::OperatorTimes& times,
                            std::vector<ScaledKernel>& kernels) {
  SONDE_TRY_ASSIGN(const ModelScaling done, scaleByModels(kernels, times, asking.models.kernels));
  asking.notes.push_back(fmt::format(
      "the given models know the operators of {} of {} kernels; kernels without recorded sizes "
      "change as those of their class; {} keep their times, since the models lack their operators "
      "or sizes",
      done.modelled,
      kernels.size(),
      done.kept));
  return done.error;
}

}  // namespace

Question device(OtherDevice of) {
  return [of](Asking& asking) -> Result<void> {
    SONDE_TRY(checkDevice(of, asking.models));
    SONDE_TRY_ASSIGN(DeviceKernels found, readDeviceKernels(asking));
    std::vector<ScaledKernel>& kernels = found.kernels;
    SONDE_TRY_ASSIGN(const double error,
                     of.isOfModels ? scaleByGiven(asking, found.times, kernels)
                                   : scaleByDevices(asking, of, kernels));
    for (const ScaledKernel& each : kernels)
      asking.scenario.setNode(each.node, std::llround(each.ns * each.factor), Origin::Modelled);
    asking.modelError = std::max(asking.modelError, error);
    asking.notes.push_back(noteOf(kernels));
    return {};
  };
}

}  // namespace sonde::engine::whatif
