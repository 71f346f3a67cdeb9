#pragma once
// Time of the simulation: ns of CLOCK_MONOTONIC, and how these read on the clock that CUPTI's
// client gave it. Any thread.

#include <cstdint>

namespace cudasim {

// A client's clock: cuptiActivityRegisterTimestampCallback's; any unit.
using TickSource = uint64_t (*)();

uint64_t nowNs();
void sleepUntil(uint64_t ns);

// The client's clock now; without one CLOCK_REALTIME in ns, as CUPTI has it.
uint64_t ticksNow();

// Null: back to CLOCK_REALTIME. Takes 2 ms, to learn the source's rate.
void setTickSource(TickSource source);

// What the client's clock said, or will say, at `ns`: piecewise linear, continuous and growing.
// What it gives for a time that has passed never changes again.
uint64_t toTicks(uint64_t ns);

}  // namespace cudasim
