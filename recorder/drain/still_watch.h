// When to bring the trace up to date although the processes have recorded nothing new: whoever
// looks at a job that hangs reads the calls that are open, and since when, from the unfinished
// trace.
//
// Owned by the drainer, on its thread. Times are of CLOCK_MONOTONIC.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sonde::recorder {

class StillWatch {
 public:
  // What waits in the spool to be stored.
  void sawWaiting(std::uint64_t bytes, std::int64_t nowNs) noexcept {
    if (bytes != waitingBytes_ || sinceNs_ == 0)
      sinceNs_ = nowNs;
    waitingBytes_ = bytes;
  }
  void stored(std::int64_t nowNs) noexcept {
    waitingBytes_ = 0;
    storedNs_ = nowNs;
  }
  // Nothing new for a second: once a second at first, every ten seconds in the end.
  bool isDue(std::int64_t nowNs) const noexcept {
    constexpr std::int64_t kSecond = 1'000'000'000;
    const std::int64_t stillNs = nowNs - sinceNs_;
    return sinceNs_ != 0 && stillNs >= kSecond &&
           nowNs - storedNs_ >= std::clamp(stillNs / 4, kSecond, 10 * kSecond);
  }

 private:
  std::uint64_t waitingBytes_ = 0;
  std::int64_t sinceNs_ = 0;
  std::int64_t storedNs_ = 0;
};

}  // namespace sonde::recorder
