#include "collector/preload/cuda/counters/counter_values.h"

#include "collector/core/device_work.h"
#include "collector/core/emit.h"

#include <cstring>

namespace sonde::preload::cuda {

void CounterValues::clear() noexcept {
  stretches_ = 0;
  count_ = 0;
  isIncomplete_ = false;
}

void CounterValues::beginStretch(std::uint64_t ticks) noexcept {
  lap_[stretches_++] = {ticks, 0};
}

void CounterValues::endStretch(std::uint64_t ticks) noexcept {
  lap_[stretches_ - 1].endTicks = ticks;
}

bool CounterValues::grow() noexcept {
  constexpr std::size_t kFirst = std::size_t{1} << 13;
  const std::size_t wanted = room_ == 0 ? kFirst : 2 * room_;
  Image larger;
  if (wanted > kMost || !larger.allocate(wanted * sizeof(wire::DeviceMetric)))
    return false;
  if (count_ > 0)
    std::memcpy(larger.bytes, memory_.bytes, count_ * sizeof(wire::DeviceMetric));
  memory_.release();
  memory_ = larger;
  room_ = wanted;
  return true;
}

void CounterValues::take(const MetricValue& value) noexcept {
  if (value.range >= stretches_)
    return;
  if (count_ == room_ && !grow()) {
    isIncomplete_ = true;
    return;
  }
  wire::DeviceMetric& record = values()[count_++];
  record = {};
  record.header.subject = core::intern(value.metric);
  record.beginTicks = lap_[value.range].beginTicks;
  record.endTicks = lap_[value.range].endTicks;
  record.value = value.value;
  record.device = value.device;
}

void CounterValues::store() noexcept {
  for (std::size_t at = 0; at < count_; ++at)
    core::emitDeviceMetric(values()[at]);
  clear();
}

}  // namespace sonde::preload::cuda
