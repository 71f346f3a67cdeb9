// Which iterations or which part of this process are recorded in full (`sonde run --capture`,
// `sonde ctl`). While a gate of the control page is closed, only the probes that follow scopes
// pass: annotation, nvtx, torch and process. The library writes only the iterations among their
// scopes. It keeps the others on their thread's stack without a record (silent). When the gates
// open, the thread's next slot has them as open scopes. Any thread may call; no function locks,
// allocates or changes errno.
//
// Iterations drive the process's own gate: the outermost ones of one thread at a time. Another
// thread takes over when that thread has none open.
#pragma once

#include "collector/core/spool.h"
#include "collector/wire/spool_format.h"

#include <cstdint>

namespace sonde::core {

struct ThreadState;

// Whether scopes of one name decide what is recorded. Constant after the process has attached.
extern bool gCapturesRange;

// The changes of the process's own gate. With iterations of 1 ms it holds the
// last 4 s of `every:2`, and the last 2 s of a range that opens in each.
inline constexpr std::uint32_t kCaptureChanges = 4096;
extern wire::GateHistory<kCaptureChanges> gCaptureChanges;

// The gate's mask at the start of a process.
std::uint32_t firstGate(const wire::CaptureRule& rule) noexcept;

// Call once, when there is a spool.
void prepareCapture() noexcept;

// Call in a child, whose threads have no open scopes.
void forgetCapture() noexcept;

inline bool isFull() noexcept {
  const wire::ControlPage& control = *gSpool.control;
  return wire::gateMask(control.capture.load(std::memory_order_relaxed) &
                        control.recording.load(std::memory_order_relaxed)) == wire::kGateOpen;
}

// A scope is about to open on the calling thread.
void scopeBegins(wire::SliceKind kind, std::uint32_t name) noexcept;
// A scope of this name has closed, or found no place on the stack.
void scopeEnds(std::uint32_t name) noexcept;
// The same for an iteration.
void iterationEnds() noexcept;

// Stores the state of the gates in an iteration that has begun.
void stampIteration(std::uint32_t token) noexcept;
// Whether both gates have been open since that stamp.
bool wasFullSince(const wire::OpenScope& scope) noexcept;
// The same for a silent scope. The second function returns whether the gates were open at any time
// since: records that are judged by their own time (gate_times.h) may belong to it.
void stampSilent(wire::OpenScope& scope) noexcept;
bool wasEverFullSince(const wire::OpenScope& silent) noexcept;
// Returns the probes that were on throughout an iteration of the calling thread, which ends now.
// `isDriving`: whether it drives the gates.
std::uint32_t probesOf(const wire::OpenScope& iteration, bool& isDriving) noexcept;
// Whether the gates have been open throughout the iteration with this token. False if it is not
// open on the calling thread.
bool isFullIteration(std::uint32_t token) noexcept;

// An integer argument of an open scope of the calling thread is about to be written.
void iterationArgument(std::uint32_t token, std::uint32_t key, std::int64_t value) noexcept;

// The calling thread ends and leaves its scopes open.
void captureThreadEnds(const ThreadState& state) noexcept;

}  // namespace sonde::core
