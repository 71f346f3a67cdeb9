#include "collector/preload/cuda/activity/cuda_launches.h"

#include "collector/core/device_work.h"
#include "collector/core/emit.h"

namespace sonde::preload::cuda {

using Was = core::GateTimes::Was;

void Launches::emit(const wire::Kernel& record) noexcept {
  core::emitKernel(record);
}

void Launches::emit(const wire::DeviceCopy& record) noexcept {
  core::emitDeviceCopy(record);
}

void Launches::emit(const wire::DeviceSync& record) noexcept {
  core::emitDeviceSync(record);
}

void Launches::emit(const Waiting& work) noexcept {
  if (work.kind == wire::RecordKind::Kernel)
    emit(work.kernel);
  else if (work.kind == wire::RecordKind::DeviceCopy)
    emit(work.copy);
  else
    emit(work.sync);
}

std::uint64_t Launches::beginOf(const Waiting& work) noexcept {
  return work.kind == wire::RecordKind::Kernel       ? work.kernel.beginTicks
         : work.kind == wire::RecordKind::DeviceCopy ? work.copy.beginTicks
                                                     : work.sync.beginTicks;
}

std::uint32_t Launches::correlationOf(const Waiting& work) noexcept {
  return work.kind == wire::RecordKind::Kernel       ? work.kernel.correlation
         : work.kind == wire::RecordKind::DeviceCopy ? work.copy.correlation
                                                     : work.sync.correlation;
}

// The state of the gates in the time span in which such work may have been launched.
core::GateTimes::Was Launches::before(std::uint64_t beginTicks) noexcept {
  const std::uint64_t begin = beginTicks != 0 ? beginTicks : core::ticks();
  return gates_.between(begin > kLongestLag ? begin - kLongestLag : 0, begin);
}

void Launches::wait(const Waiting& work) noexcept {
  if (waits_ == kMostWaiting)
    settle(Patience::Lasts);
  if (waits_ == kMostWaiting)
    settle(Patience::Ends);
  waiting_[waits_++] = work;
}

Launches::Fate Launches::lastFateOf(std::uint32_t correlation, std::uint64_t beginTicks) noexcept {
  const Fate fate = fateOf(correlation, beginTicks);
  if (fate != Fate::Unknown)
    return fate;
  return before(beginTicks) == Was::Closed ? Fate::LeftOut : Fate::Kept;
}

void Launches::settle(Patience patience) noexcept {
  std::size_t left = 0;
  for (std::size_t at = 0; at < waits_; ++at) {
    const Waiting& work = waiting_[at];
    const Fate fate = patience == Patience::Ends ? lastFateOf(correlationOf(work), beginOf(work))
                                                 : fateOf(correlationOf(work), beginOf(work));
    if (fate == Fate::Unknown)
      waiting_[left++] = work;
    else if (fate == Fate::Kept)
      emit(work);
  }
  waits_ = left;
  count();
}

void Launches::count() noexcept {
  const auto counted = static_cast<std::uint32_t>(counted_);
  const auto waits = static_cast<std::uint32_t>(waits_);
  if (waits > counted)
    core::countLoss(
        wire::Probe::Cuda, wire::RecordKind::Kernel, wire::LossReason::Tracer, waits - counted);
  else if (counted > waits)
    core::uncountLoss(
        wire::Probe::Cuda, wire::RecordKind::Kernel, wire::LossReason::Tracer, counted - waits);
  counted_ = waits_;
}

}  // namespace sonde::preload::cuda
