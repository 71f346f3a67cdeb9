// A run that calibrates itself (wire/calibration.h): switches the probes of this process by the
// iterations that drive the gate (capture.h), and counts by probe what they record and what they
// let pass meanwhile. Between iterations all probes are on. Any thread, but for what says that it
// is the driver's; no function locks, allocates or changes errno.
#pragma once

#include "collector/core/capture.h"
#include "collector/core/thread_state.h"
#include "collector/wire/calibration.h"

#include <cstdint>

namespace sonde::core {

// Constant once the process is attached.
extern bool gCalibrates;

// Of the probe `cuda`, for records that come late (gate_times.h); always open where nothing is
// switched.
extern wire::Gate gCudaGate;
extern wire::GateHistory<kCaptureChanges> gCudaChanges;

// Once, when there is a spool.
void prepareCalibration() noexcept;
// In a child, whose spool has all probes on.
void forgetCalibration() noexcept;

// The driver's: its outermost iteration begins, or is told its number. One in outline has all
// probes on: nothing of it is recorded anyway, and those that find iterations see theirs.
void beginCounting() noexcept;
void switchProbes(std::int64_t number, bool isFull) noexcept;
// The driver's: it has none open any more.
void switchAllOn() noexcept;

// The probes that have been on since then. Those of which that is not known any more count as off.
std::uint32_t probesSince(std::uint64_t ticks) noexcept;

// The driver's: since beginCounting(), the probes that there is something of. Returns how many.
std::uint32_t takeCounts(wire::ProbeCalls (&calls)[static_cast<int>(wire::Probe::Count)]) noexcept;

// A thread counts for itself; a signal handler in between may cost a count.
inline void countOne(std::atomic<std::uint32_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}
inline void countRecorded(ThreadState* state, wire::Probe probe) noexcept {
  if (__builtin_expect(gCalibrates, 0))
    countOne(state->recorded[static_cast<int>(probe)]);
}
// If it is off for no other reason than that it is masked.
[[gnu::cold]] void countUnrecorded(wire::Probe probe, std::uint32_t calls) noexcept;

// Whether the run was asked for `probe`, and would record were it not masked.
bool isMasked(wire::Probe probe) noexcept;

}  // namespace sonde::core
