// The clock of this process image: the invariant TSC if the kernel itself uses it, else
// CLOCK_MONOTONIC.
//
// chooseClock() runs once, before anything is recorded. ticks() may be called from anywhere.
// SONDE_TEST_CLOCK ("offset_ns,drift_ppb") shifts every clock of the process alike, as if it ran on
// another host; ticks are then ns.
#pragma once

#include "collector/wire/spool_format.h"

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace sonde::core {

struct ClockChoice {
  wire::ClockKind kind = wire::ClockKind::Monotonic;
  bool stopped = false;  // reads return 0 from now on
  std::int64_t testOffsetNs = 0;
  std::int64_t testDriftPpb = 0;
  std::int64_t testOriginNs = 0;  // CLOCK_MONOTONIC from which the drift counts
};
extern ClockChoice gClock;

struct ClockReading {
  std::uint64_t ticks;
  std::int64_t monotonicNs;
  std::int64_t realtimeNs;
};

// `testClock`: the value of SONDE_TEST_CLOCK, or nullptr.
void chooseClock(const char* testClock) noexcept;

// Stops reading the clocks of this process. A thread that may not read the TSC (seccomp's strict
// mode) would be killed.
void stopClock() noexcept;

// Reads all three clocks at one instant. Uses the tightest of a few tries, to discard readings that
// were interrupted.
ClockReading readClocks() noexcept;

// Nanoseconds of CLOCK_MONOTONIC, shifted when under test.
std::int64_t monotonicNs() noexcept;

inline std::uint64_t readTicks() noexcept {
#if defined(__x86_64__)
  if (__builtin_expect(gClock.kind == wire::ClockKind::Tsc, 1))
    return __rdtsc();
#endif
  return static_cast<std::uint64_t>(monotonicNs());
}

}  // namespace sonde::core
