// Finds when a thread that recorded nothing was idle. Plain values.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::engine::waits {

struct Pause {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t lengthNs() const noexcept { return end - begin; }
};

// A stretch of a thread's time, with how long the thread was neither running nor runnable in it.
struct Accounted {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t blockedNs;
};

// Returns the pauses in which the thread was idle, by begin. Where its time is accounted for, takes
// the longest pauses, up to the blocked time. Elsewhere takes those of at least kLongPauseNs.
// Requires: both in order, without overlaps.
std::vector<Pause> idlePauses(std::vector<Pause> pauses, std::vector<Accounted> accounted);

inline constexpr std::int64_t kShortPauseNs = 20'000;  // shorter ones do not count
inline constexpr std::int64_t kLongPauseNs = 200'000;

}  // namespace sonde::engine::waits
