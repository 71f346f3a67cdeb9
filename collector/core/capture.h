// Which iterations of this process, or which stretch of it, are recorded in full (`sonde run
// --capture`, `sonde ctl`). Elsewhere the gates of the control page let no probe through but those
// that follow scopes, and of these iterations alone are written: the others wait on their thread's
// stack, silent, until the gates open and the thread's next slot has them as open scopes. Any
// thread; no function locks, allocates or changes errno.
//
// Iterations drive the process's own gate: those of one thread at a time, and of these the
// outermost. Another thread's take their turn when that one has none open.
#pragma once

#include "collector/core/spool.h"
#include "collector/wire/spool_format.h"

#include <cstdint>

namespace sonde::core {

struct ThreadState;

// Scopes of one name decide what is recorded. Constant once the process is attached.
extern bool gCapturesRange;

// Of the process's own gate. Of iterations of 1 ms, all changes of 2 s.
inline constexpr std::uint32_t kCaptureChanges = 4096;
extern wire::GateHistory<kCaptureChanges> gCaptureChanges;

// The gate of a process that begins.
std::uint32_t firstGate(const wire::CaptureRule& rule) noexcept;

// Once, when there is a spool.
void prepareCapture() noexcept;

// In a child, whose threads have nothing open.
void forgetCapture() noexcept;

inline bool isFull() noexcept {
  const wire::ControlPage& control = *gSpool.control;
  return wire::gateMask(control.capture.load(std::memory_order_relaxed) &
                        control.recording.load(std::memory_order_relaxed)) == wire::kGateOpen;
}

// A scope is about to open on the calling thread; one of this name, or an iteration, has closed, or
// found no room.
void scopeBegins(wire::SliceKind kind, std::uint32_t name) noexcept;
void scopeEnds(std::uint32_t name) noexcept;
void iterationEnds() noexcept;

// Notes in an iteration that has begun what the gates are; whether they have been open since.
void stampIteration(std::uint32_t token) noexcept;
bool wasFullSince(const wire::OpenScope& scope) noexcept;
// The same of a silent scope, and whether there was a time since in which they were open: what is
// recorded by its own time (gate_times.h) may be in it.
void stampSilent(wire::OpenScope& scope) noexcept;
bool wasEverFullSince(const wire::OpenScope& silent) noexcept;
// The probes that were on all through an iteration of the calling thread, which ends; whether it
// drives the gates.
std::uint32_t probesOf(const wire::OpenScope& iteration, bool& isDriving) noexcept;
// Whether they have been open all the time, of an iteration by its token; false when the calling
// thread does not have it open.
bool isFullIteration(std::uint32_t token) noexcept;

// An integer argument of an open scope of the calling thread is about to be written.
void iterationArgument(std::uint32_t token, std::uint32_t key, std::int64_t value) noexcept;

// The calling thread ends with what it has open.
void captureThreadEnds(const ThreadState& state) noexcept;

}  // namespace sonde::core
