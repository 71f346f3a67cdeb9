// A timer of each thread's own CPU time, and above the rate of the kernel's clock a perf event.
#pragma once

#include "collector/preload/stack/interposer/cpu_account.h"

#include <signal.h>

#include <cstdint>

namespace sonde::preload::stack {

// Before any other.
void prepareTimers() noexcept;
// From now on the calling thread gets kSignal each time that it has run for `periodNs`. Periods
// below the kernel's tick need a perf event; what the kernel says where that cannot be, -errno,
// when the tick has to do. Else 0. Not in a signal handler.
int startTimer(std::int64_t periodNs) noexcept;
// The calling thread gets none any more.
void endTimer() noexcept;

// In the handler of kSignal: what a sample stands for that is taken now. Nothing where the signal
// is somebody else's.
Worth timeOf(const siginfo_t& signal, const void* context) noexcept;
void endHandler() noexcept;

// No thread gets one any more.
void stopTimers() noexcept;
// In a child that was forked: it has none of its parent's.
void forgetTimers() noexcept;

}  // namespace sonde::preload::stack
