#include "recorder/options/capture_schedule.h"

#include <algorithm>

namespace sonde::recorder {

CaptureSchedule::CaptureSchedule(CaptureTimes times, std::int64_t nowNs) noexcept : times_(times) {
  if (times_.delayNs > 0)
    startNs_ = nowNs + times_.delayNs;
  else
    begin(nowNs);
}

void CaptureSchedule::begin(std::int64_t nowNs) noexcept {
  isOn_ = true;
  startNs_.reset();
  if (times_.durationNs)
    endNs_ = nowNs + *times_.durationNs;
  times_.durationNs.reset();
}

bool CaptureSchedule::advance(std::int64_t nowNs) noexcept {
  if (startNs_ && nowNs >= *startNs_) {
    begin(nowNs);
    return true;
  }
  if (endNs_ && nowNs >= *endNs_) {
    endNs_.reset();
    isOn_ = false;
    return true;
  }
  return false;
}

bool CaptureSchedule::set(bool on, std::int64_t nowNs) noexcept {
  const bool changes = on != isOn_;
  if (on && changes)
    begin(nowNs);
  if (on)
    return changes;
  isOn_ = false;
  startNs_.reset();
  endNs_.reset();
  return changes;
}

bool CaptureSchedule::setFor(std::int64_t forNs, std::int64_t nowNs) noexcept {
  const bool changes = set(true, nowNs);
  if (changes || endNs_)
    endNs_ = std::max(endNs_.value_or(0), nowNs + forNs);
  return changes;
}

}  // namespace sonde::recorder
