#include "analysis/engine/whatif/compute/kernel_scaling.h"

#include "analysis/engine/whatif/compute/wave_scaling.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sonde::engine::whatif {
namespace {

using models::DevicePeaks;
using models::KernelModel;
using models::WorkClass;

constexpr std::size_t kClasses = 3;

// The intensity from which arithmetic bounds the kernel.
double ridgeOf(const DevicePeaks& device, const ScaledKernel& kernel) {
  return arithmeticOf(device, kernel) / device.bandwidth;
}

// Its time cannot become shorter than that of launching it. Kernels of a job that has no short ones
// have no known fixed part.
double fixedNsOf(const std::vector<ScaledKernel>& kernels) {
  constexpr double kMost = 5'000;
  std::vector<double> times;
  times.reserve(kernels.size());
  for (const ScaledKernel& each : kernels)
    times.push_back(each.ns);
  const auto first = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 100);
  std::nth_element(times.begin(), first, times.end());
  return *first < kMost ? *first : 0;
}

// How many times as long the kernels of each class take together whose factor is known; 0: none is.
std::array<double, kClasses> meanFactors(const std::vector<ScaledKernel>& kernels) {
  std::array<double, kClasses> before{};
  std::array<double, kClasses> after{};
  for (const ScaledKernel& each : kernels) {
    const auto at = static_cast<std::size_t>(each.ofClass);
    before.at(at) += each.factor > 0 ? each.ns : 0;
    after.at(at) += each.ns * each.factor;
  }
  for (std::size_t at = 0; at < kClasses; ++at)
    after.at(at) /= std::max(before.at(at), 1.0);
  return after;
}

}  // namespace

double arithmeticOf(const DevicePeaks& device, const ScaledKernel& kernel) {
  if (kernel.ofClass != WorkClass::Matrix)
    return device.single;
  return kernel.isReduced ? device.half : kernel.isTensorFloat ? device.tensorFloat : device.single;
}

void scaleByPeaks(std::vector<ScaledKernel>& kernels,
                  const PeakFactors& factors,
                  const DevicePeaks* present,
                  const DevicePeaks* to) {
  const double fixed = fixedNsOf(kernels);
  for (ScaledKernel& each : kernels) {
    double bandwidth = factors.bandwidth.value_or(1);
    double flops = factors.flops.value_or(1);
    if (to != nullptr && !factors.bandwidth)
      bandwidth = to->bandwidth / present->bandwidth;
    if (to != nullptr && !factors.flops)
      flops = arithmeticOf(*to, each) / arithmeticOf(*present, each);
    double memory = each.ofClass == WorkClass::Matrix ? 0 : 1;
    if (each.work != nullptr && each.work->flops > 0) {
      const double intensity = each.work->flops / each.work->bytes;
      // Factors may stand in place of one device's peaks.
      if (present != nullptr)
        memory = memoryShare(intensity, ridgeOf(*present, each) * flops / bandwidth);
      else if (to != nullptr)
        memory = memoryShare(intensity, ridgeOf(*to, each));
    }
    const double kept = std::min(fixed, each.ns);
    const double then = kept + (each.ns - kept) * waveFactor(bandwidth, flops, memory);
    each.factor = each.ns > 0 ? then / each.ns : 1;
  }
}

Result<ModelScaling> scaleByModels(std::vector<ScaledKernel>& kernels,
                                   const models::OperatorTimes& times,
                                   const std::vector<KernelModel>& given) {
  constexpr double kUnknown = 0.5;  // the relative error of kernels that keep their times
  const std::vector<KernelModel> own = fitKernelModels(times);
  ModelScaling done;
  double error = 0;
  double total = 0;
  for (ScaledKernel& each : kernels) {
    const KernelModel* now = each.work == nullptr ? nullptr : modelOf(own, *each.work, true);
    const KernelModel* then = each.work == nullptr ? nullptr : modelOf(given, *each.work, true);
    if (now == nullptr || then == nullptr || !then->isErrorMeasured || !then->covers(*each.work))
      continue;
    const double before = now->ns(*each.work);
    const double after = then->ns(*each.work);
    if (!(before > 0) || !(after > 0))
      continue;
    each.factor = after / before;
    ++done.modelled;
    error += then->error * each.ns * each.factor;
    total += each.ns * each.factor;
  }
  if (done.modelled == 0)
    return notFound(
        "the trace has no operators with recorded sizes that the models of --model were fitted to, "
        "so nothing says how long its kernels take on the other device");
  const std::array<double, kClasses> means = meanFactors(kernels);
  const double meanError = total > 0 ? error / total : 0;
  for (ScaledKernel& each : kernels) {
    if (each.factor > 0)
      continue;
    // That of another size would say nothing.
    each.factor = each.work == nullptr ? means.at(static_cast<std::size_t>(each.ofClass)) : 0;
    const bool isUnknown = !(each.factor > 0);
    if (isUnknown)
      each.factor = 1;
    done.kept += isUnknown ? 1 : 0;
    error += (isUnknown ? kUnknown : meanError) * each.ns * each.factor;
    total += each.ns * each.factor;
  }
  done.error = total > 0 ? error / total : 0;
  return done;
}

}  // namespace sonde::engine::whatif
