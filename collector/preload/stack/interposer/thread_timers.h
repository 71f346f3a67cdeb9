// A timer of each thread's own CPU time and, above the rate of the kernel's clock, a perf event.
#pragma once

#include "collector/preload/stack/interposer/cpu_account.h"

#include <signal.h>

#include <cstdint>

namespace sonde::preload::stack {

// Call it before the other functions.
void prepareTimers() noexcept;
// From now on the calling thread gets kSignal each time it has run for `periodNs`. Periods below
// the kernel's tick need a perf event. If that is refused, ticks are used and the function returns
// the kernel's -errno; else it returns 0. Not in a signal handler.
int startTimer(std::int64_t periodNs) noexcept;
// Ends the calling thread's timer.
void endTimer() noexcept;

// In the handler of kSignal: the CPU time that a sample taken now represents. Empty if the signal
// is from another sender.
Worth timeOf(const siginfo_t& signal, const void* context) noexcept;
void endHandler() noexcept;

// Ends the timers of all threads.
void stopTimers() noexcept;
// In a forked child, which has none of its parent's timers.
void forgetTimers() noexcept;

}  // namespace sonde::preload::stack
