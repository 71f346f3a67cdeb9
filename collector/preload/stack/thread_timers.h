// A timer of each thread's own CPU time. Any thread, not in a signal handler.
#pragma once

#include <signal.h>

#include <cstdint>

namespace sonde::preload::stack {

// Before any other.
void prepareTimers() noexcept;
// From now on the calling thread gets kSignal each time that it has run for `periodNs`. Periods
// below the kernel's tick need a perf event; what the kernel says where that cannot be, -errno,
// when the tick has to do. Else 0.
int startTimer(std::int64_t periodNs) noexcept;
// In the handler: for how much of the thread's CPU time the signal stands. 0: it is somebody
// else's.
std::int64_t timeOf(const siginfo_t& signal, const void* context, std::int64_t periodNs) noexcept;
// No thread gets one any more.
void stopTimers() noexcept;
// In a child that was forked: it has none of its parent's.
void forgetTimers() noexcept;

}  // namespace sonde::preload::stack
