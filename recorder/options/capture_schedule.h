// When a recording is on by itself: after `--delay`, for `--duration`, until somebody asks for
// something else. Owned by the recording, on its worker's thread; times are CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <optional>

namespace sonde::recorder {

struct CaptureTimes {
  std::int64_t delayNs = 0;
  std::optional<std::int64_t> durationNs;  // none: to the end
};

class CaptureSchedule {
 public:
  CaptureSchedule(CaptureTimes times, std::int64_t nowNs) noexcept;

  bool isOn() const noexcept { return isOn_; }
  // The delay has not passed yet.
  bool isWaiting() const noexcept { return startNs_.has_value(); }
  // Whether it changes by itself now; then isOn() is the new state.
  bool advance(std::int64_t nowNs) noexcept;
  // Somebody wants it on or off. A duration counts from the first time that it is on. False: it is
  // so already.
  bool set(bool on, std::int64_t nowNs) noexcept;
  // When advance() will next change something.
  std::optional<std::int64_t> nextNs() const noexcept { return startNs_ ? startNs_ : endNs_; }

 private:
  void begin(std::int64_t nowNs) noexcept;

  CaptureTimes times_;
  bool isOn_ = false;
  std::optional<std::int64_t> startNs_;  // when the delay has passed
  std::optional<std::int64_t> endNs_;    // when the duration has passed
};

}  // namespace sonde::recorder
