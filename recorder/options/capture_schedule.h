// When a recording is on by schedule: after `--delay`, for `--duration`, until a request changes
// it. Owned by the recording, on its worker's thread; times are CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <optional>

namespace sonde::recorder {

struct CaptureTimes {
  std::int64_t delayNs = 0;
  std::optional<std::int64_t> durationNs;  // unset: to the end
};

class CaptureSchedule {
 public:
  CaptureSchedule(CaptureTimes times, std::int64_t nowNs) noexcept;

  bool isOn() const noexcept { return isOn_; }
  // The delay has not passed yet.
  bool isWaiting() const noexcept { return startNs_.has_value(); }
  // Whether the state changes by schedule now; isOn() is then the new state.
  bool advance(std::int64_t nowNs) noexcept;
  // A request turns it on or off. A duration counts from the first time that it is on. False: it is
  // already in this state.
  bool set(bool on, std::int64_t nowNs) noexcept;
  // Turns it on for `forNs`. If it is on already, that may only last longer. False: it is already
  // in this state.
  bool setFor(std::int64_t forNs, std::int64_t nowNs) noexcept;
  // When advance() next changes the state.
  std::optional<std::int64_t> nextNs() const noexcept { return startNs_ ? startNs_ : endNs_; }

 private:
  void begin(std::int64_t nowNs) noexcept;

  CaptureTimes times_;
  bool isOn_ = false;
  std::optional<std::int64_t> startNs_;  // end of the delay
  std::optional<std::int64_t> endNs_;    // end of the duration
};

}  // namespace sonde::recorder
