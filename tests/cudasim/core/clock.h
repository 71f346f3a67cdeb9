#pragma once
// The simulation's time: ns of CLOCK_MONOTONIC, and their conversion to the clock that CUPTI's
// client registered. Any thread.

#include <cstdint>

namespace cudasim {

// A client's clock, from cuptiActivityRegisterTimestampCallback; any unit.
using TickSource = uint64_t (*)();

uint64_t nowNs();
void sleepUntil(uint64_t ns);

// The client's clock now; without one CLOCK_REALTIME in ns, as in CUPTI.
uint64_t ticksNow();

// Null: back to CLOCK_REALTIME. Takes 2 ms, to measure the source's rate.
void setTickSource(TickSource source);

// The client's clock at `ns`, past or future: piecewise linear, continuous and growing. Its value
// for a past time never changes.
uint64_t toTicks(uint64_t ns);

}  // namespace cudasim
