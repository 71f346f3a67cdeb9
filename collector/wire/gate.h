// A gate of the control page: which probes pass it, as a mask, and how often it was closed so far,
// in one word, so that who looks twice knows whether it was open all the time in between.
//
//   63            32 31             0
//   +---------------+---------------+
//   | closings      | 1 << Probe …  |
//   +---------------+---------------+
#pragma once

#include "collector/wire/records.h"

#include <atomic>
#include <cstdint>

namespace sonde::wire {

using Gate = std::atomic<std::uint64_t>;  // 0: nothing passes

inline constexpr std::uint32_t kGateOpen = ~std::uint32_t{0};
// What is not recorded in full: iterations alone are, and what the program says of them. Scopes are
// followed, so that those that are open are known where the gate opens again.
inline constexpr std::uint32_t kGateOutline =
    1U << static_cast<int>(Probe::Annotation) | 1U << static_cast<int>(Probe::Nvtx) |
    1U << static_cast<int>(Probe::Torch) | 1U << static_cast<int>(Probe::Process);

constexpr std::uint32_t gateMask(std::uint64_t gate) noexcept {
  return static_cast<std::uint32_t>(gate);
}
constexpr std::uint32_t gateClosings(std::uint64_t gate) noexcept {
  return static_cast<std::uint32_t>(gate >> 32);
}

// The number of the change that made a gate what it is. Those with odd ones opened it, those with
// even ones closed it; a gate begins with 0, or open, with 1.
constexpr std::uint64_t gateChange(std::uint64_t gate) noexcept {
  return std::uint64_t{2} * gateClosings(gate) + (gateMask(gate) == kGateOpen ? 1 : 0);
}
constexpr bool opens(std::uint64_t change) noexcept {
  return change % 2 == 1;
}

}  // namespace sonde::wire
