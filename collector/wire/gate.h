// A gate of the control page. One word holds the mask of probes that pass, and the number of
// closings so far. A reader that looks twice thus knows whether the gate stayed open in between.
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
// The probes that pass a closed gate. They record iterations and what the program reports about
// them, nothing else. They also follow scopes, so that the open scopes are known when the gate
// opens.
inline constexpr std::uint32_t kGateOutline =
    1U << static_cast<int>(Probe::Annotation) | 1U << static_cast<int>(Probe::Nvtx) |
    1U << static_cast<int>(Probe::Torch) | 1U << static_cast<int>(Probe::Process);

constexpr std::uint32_t gateMask(std::uint64_t gate) noexcept {
  return static_cast<std::uint32_t>(gate);
}
constexpr std::uint32_t gateClosings(std::uint64_t gate) noexcept {
  return static_cast<std::uint32_t>(gate >> 32);
}

// The number of the change that put a gate into its present state. Odd changes opened it, even
// changes closed it. A gate that starts closed starts with 0, one that starts open with 1.
constexpr std::uint64_t gateChange(std::uint64_t gate) noexcept {
  return std::uint64_t{2} * gateClosings(gate) + (gateMask(gate) == kGateOpen ? 1 : 0);
}
constexpr bool opens(std::uint64_t change) noexcept {
  return change % 2 == 1;
}

}  // namespace sonde::wire
