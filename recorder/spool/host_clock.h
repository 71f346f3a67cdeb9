// The clocks of this machine, read together. Plain functions; any thread.
#pragma once

#include "recorder/spool/clock_triple.h"

#include <cstdint>
#include <ctime>
#include <string>

namespace sonde::recorder {

// Reads a clock of the system, such as CLOCK_MONOTONIC; nanoseconds.
inline std::int64_t nowNs(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// The tightest of a few tries: an interruption between two readings would show as an error of the
// clock fit.
ClockTriple readHostClock();

// HH:MM:SS where the recorder runs, as the job's own log has it.
std::string timeOfDay(const ClockTriple& time);

// Measures for 20 ms how long a tick is. A processor's rate does not change over a reboot.
double measureNsPerTick();

}  // namespace sonde::recorder
