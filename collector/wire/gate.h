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

inline void setGate(Gate& gate, std::uint32_t mask) noexcept {
  std::uint64_t now = gate.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    const bool closes = gateMask(now) == kGateOpen && mask != kGateOpen;
    next = std::uint64_t{gateClosings(now) + (closes ? 1 : 0)} << 32 | mask;
  } while (now != next && !gate.compare_exchange_weak(now, next, std::memory_order_relaxed));
}

}  // namespace sonde::wire
