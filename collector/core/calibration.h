// A self-calibrating run (wire/calibration.h): switches the probes of this process at the
// iterations that drive the gate (capture.h). For each probe it counts the records, and the calls
// that were not recorded. Between iterations all probes are on. Any thread may call these
// functions, except those marked as the driver's. No function locks, allocates or changes errno.
#pragma once

#include "collector/core/capture.h"
#include "collector/core/thread_state.h"
#include "collector/wire/calibration.h"

#include <cstdint>

namespace sonde::core {

// Constant after the process has attached.
extern bool gCalibrates;

// The gate of the probe `cuda`, for records that come late (gate_times.h). Always open in runs that
// do not calibrate.
extern wire::Gate gCudaGate;
extern wire::GateHistory<kCaptureChanges> gCudaChanges;

// Call once, when there is a spool.
void prepareCalibration() noexcept;
// Call in a child, whose spool has all probes on.
void forgetCalibration() noexcept;

// For the driver: its outermost iteration begins, or gets its number. An iteration in outline has
// all probes on: it is not recorded, and the probes that detect iterations must see it.
void beginCounting() noexcept;
void switchProbes(std::int64_t number, bool isFull) noexcept;
// For the driver: it has no open iteration any more.
void switchAllOn() noexcept;

// The probes that have been on since `ticks`. Probes for which that is no longer known count as
// off.
std::uint32_t probesSince(std::uint64_t ticks) noexcept;

// For the driver: fills in the probes that had calls since beginCounting() and returns their
// number.
std::uint32_t takeCounts(wire::ProbeCalls (&calls)[static_cast<int>(wire::Probe::Count)]) noexcept;

// Each thread counts for itself. A signal handler that interrupts it may lose a count.
inline void countOne(std::atomic<std::uint32_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}
inline void countRecorded(ThreadState* state, wire::Probe probe) noexcept {
  if (__builtin_expect(gCalibrates, 0))
    countOne(state->recorded[static_cast<int>(probe)]);
}
// Counts only if the mask is the only reason that the probe is off.
[[gnu::cold]] void countUnrecorded(wire::Probe probe, std::uint32_t calls) noexcept;

// Whether the run requested `probe`, and only the mask keeps it from recording.
bool isMasked(wire::Probe probe) noexcept;

}  // namespace sonde::core
