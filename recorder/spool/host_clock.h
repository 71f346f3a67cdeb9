// The clocks of this machine, read together. Plain functions; any thread.
#pragma once

#include "recorder/spool/clock_triple.h"

#include <cstdint>
#include <ctime>
#include <string>

namespace sonde::recorder {

// Reads a system clock, such as CLOCK_MONOTONIC, in nanoseconds.
inline std::int64_t nowNs(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// Returns the tightest of a few tries: an interruption between two readings would become an error
// of the clock fit.
ClockTriple readHostClock();

// HH:MM:SS in the recorder's time zone, as in the job's own log.
std::string timeOfDay(const ClockTriple& time);

// Measures the length of a tick for 20 ms. A processor's rate does not change over a reboot.
double measureNsPerTick();

}  // namespace sonde::recorder
