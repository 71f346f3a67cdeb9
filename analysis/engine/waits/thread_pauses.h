// When a thread did nothing, as far as that can be told of one that has recorded nothing meanwhile.
// Plain values.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::engine::waits {

struct Pause {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t lengthNs() const noexcept { return end - begin; }
};

// A stretch of a thread's time in which it was known for how long it neither ran nor wanted to.
struct Accounted {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t blockedNs;
};

// Those of `pauses` in which the thread did nothing, by their begin. Where its time is accounted
// for the longest are, as far as it was blocked for so long; where it is not, those of kLongPauseNs
// or more. Requires: both in order, without overlaps.
std::vector<Pause> idlePauses(std::vector<Pause> pauses, std::vector<Accounted> accounted);

inline constexpr std::int64_t kShortPauseNs = 20'000;  // shorter ones are none
inline constexpr std::int64_t kLongPauseNs = 200'000;

}  // namespace sonde::engine::waits
