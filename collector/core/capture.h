// Which iterations of this process, or which stretch of it, are recorded in full (`sonde run
// --capture`). Elsewhere the gate of the control page lets no probe through but those that follow
// scopes, and of these iterations alone are written: the others wait on their thread's stack,
// silent, until the gate opens and the thread's next slot has them as open scopes. Any thread; no
// function locks, allocates or changes errno.
#pragma once

#include "collector/core/spool.h"
#include "collector/wire/spool_format.h"

#include <cstdint>

namespace sonde::core {

// Scopes of one name decide what is recorded. Constant once the process is attached.
extern bool gCapturesRange;

// The gate of a process that begins.
std::uint32_t firstGate(const wire::CaptureRule& rule) noexcept;

// Once, when there is a spool.
void prepareCapture() noexcept;

// In a child, whose threads have nothing open.
void forgetCapture() noexcept;

inline bool isFull() noexcept {
  return gSpool.control->gate.load(std::memory_order_relaxed) == wire::kGateOpen;
}

// A scope is about to open; one of this name has closed.
void scopeBegins(wire::SliceKind kind, std::uint32_t name) noexcept;
void scopeEnds(std::uint32_t name) noexcept;

// The record of an iteration's end has been written; an integer argument of a scope is about to be.
void iterationEnds() noexcept;
void iterationArgument(std::uint32_t key, std::int64_t value) noexcept;

}  // namespace sonde::core
