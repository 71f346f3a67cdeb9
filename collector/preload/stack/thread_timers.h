// A timer of each thread's own CPU time. Any thread, not in a signal handler.
#pragma once

#include <cstdint>

namespace sonde::preload::stack {

// What tells a timer's signal from another: si_value.
extern char gTimerMark;

// Before any other.
void prepareTimers() noexcept;
// From now on the calling thread gets kSignal each time that it has run for `periodNs`.
void startTimer(std::int64_t periodNs) noexcept;
// No thread gets one any more.
void stopTimers() noexcept;
// In a child that was forked: it has none of its parent's.
void forgetTimers() noexcept;

}  // namespace sonde::preload::stack
