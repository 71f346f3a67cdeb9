// When to update the trace although the processes have recorded nothing new. A user who inspects a
// hanging job reads the open calls, and their begins, from the unfinished trace.
//
// Owned by the drainer, on its thread. Times are of CLOCK_MONOTONIC.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sonde::recorder {

class StillWatch {
 public:
  // The bytes in the spool that are not stored.
  void sawWaiting(std::uint64_t bytes, std::int64_t nowNs) noexcept {
    if (bytes != waitingBytes_ || sinceNs_ == 0)
      sinceNs_ = nowNs;
    waitingBytes_ = bytes;
  }
  void stored(std::int64_t nowNs) noexcept {
    waitingBytes_ = 0;
    storedNs_ = nowNs;
  }
  // Due if there was nothing new for a second: at first every second, later every ten seconds.
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
