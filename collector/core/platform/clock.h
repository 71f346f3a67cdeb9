// The clock of this process image: invariant TSC where the kernel itself keeps time by it, else
// CLOCK_MONOTONIC.
//
// chooseClock() runs once, before anything is recorded; ticks() may be called from anywhere.
// SONDE_TEST_CLOCK
// ("offset_ns,drift_ppb") shifts every clock of the process alike, as if it ran on another host;
// ticks are then ns.
#pragma once

#include "collector/wire/spool_format.h"

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace sonde::core {

struct ClockChoice {
  wire::ClockKind kind = wire::ClockKind::Monotonic;
  bool stopped = false;  // 0 is read from now on
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

// The clocks of this process are not looked at any more: where a thread may not read the TSC either
// (seccomp's strict mode), that would end it.
void stopClock() noexcept;

// All three clocks at one instant: the tightest of a few tries, so that an interruption between two
// reads shows.
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
