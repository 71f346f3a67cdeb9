// Which numbers are valid times. Pure functions.
#pragma once

#include <cstdint>

namespace sonde::model {

// Differences of two times do not overflow. As nanoseconds since the epoch, times reach the year
// 2116.
inline constexpr std::int64_t kMostNs = std::int64_t{1} << 62;

constexpr bool isTime(std::int64_t ns) noexcept {
  return ns > -kMostNs && ns < kMostNs;
}

}  // namespace sonde::model
