// The clocks of this machine, read together. Plain functions; any thread.
#pragma once

#include "session/clock_triple.h"

#include <string>

namespace sonde::session {

// The tightest of a few tries: an interruption between two readings would show as an error of the
// clock fit.
ClockTriple readHostClock();

// HH:MM:SS where the recorder runs, as the job's own log has it.
std::string timeOfDay(const ClockTriple& time);

// Measures for 20 ms how long a tick is. A processor's rate does not change over a reboot.
double measureNsPerTick();

}  // namespace sonde::session
