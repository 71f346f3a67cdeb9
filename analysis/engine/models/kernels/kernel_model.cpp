#include "analysis/engine/models/kernels/kernel_model.h"

#include <algorithm>
#include <cmath>

namespace sonde::engine::models {
namespace {

// As that of collectives beyond their sizes.
constexpr double kBeyondKernelSizes = 3;

}  // namespace

double KernelModel::ns(const OperatorWork& work) const noexcept {
  if (form == KernelForm::Roofline)
    return fixedNs + std::max(flopNs * work.flops, byteNs * work.bytes);
  return scale * std::pow(std::max(work.flops, 1.0), flopPower) *
         std::pow(std::max(work.bytes, 1.0), bytePower);
}

bool KernelModel::covers(const OperatorWork& work) const noexcept {
  constexpr double kBeyond = 4;
  return work.bytes * kBeyond >= leastBytes && work.bytes <= mostBytes * kBeyond;
}

double KernelModel::interval(const OperatorWork& work) const noexcept {
  const bool isBeyond = isErrorMeasured && (work.bytes < leastBytes || work.bytes > mostBytes);
  return std::expm1(logError * (isBeyond ? kBeyondKernelSizes : 1));
}

const KernelModel* modelOf(const std::vector<KernelModel>& all,
                           const OperatorWork& work,
                           bool isOnDevice) {
  const KernelModel* ofKind = nullptr;
  for (const KernelModel& each : all) {
    if (each.kind != work.kind || each.type != work.type || each.isOnDevice != isOnDevice)
      continue;
    if (each.op == work.op)
      return &each;
    if (each.op.empty())
      ofKind = &each;
  }
  return ofKind;
}

}  // namespace sonde::engine::models
