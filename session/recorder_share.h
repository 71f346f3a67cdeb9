// What the recorder itself has of a processor from when this is made on. Plain value; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace sonde::session {

class RecorderShare {
 public:
  // So far, in millionths of the time that has passed.
  std::int64_t ppm() const noexcept {
    const std::int64_t wallNs = std::max<std::int64_t>(nowNs(CLOCK_MONOTONIC) - wallNs_, 1);
    const std::int64_t cpuNs = nowNs(CLOCK_PROCESS_CPUTIME_ID) - cpuNs_;
    return static_cast<std::int64_t>(1e6 * static_cast<double>(cpuNs) /
                                     static_cast<double>(wallNs));
  }

 private:
  static std::int64_t nowNs(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  }

  std::int64_t wallNs_ = nowNs(CLOCK_MONOTONIC);
  std::int64_t cpuNs_ = nowNs(CLOCK_PROCESS_CPUTIME_ID);
};

}  // namespace sonde::session
