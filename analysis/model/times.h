// Which numbers are times. Pure functions.
#pragma once

#include <cstdint>

namespace sonde::model {

// The difference of two times is a number, too. The epoch counts to the year 2116 so.
inline constexpr std::int64_t kMostNs = std::int64_t{1} << 62;

constexpr bool isTime(std::int64_t ns) noexcept {
  return ns > -kMostNs && ns < kMostNs;
}

}  // namespace sonde::model
