// A perf event that interrupts the calling thread each time that it has run for so long, by a timer
// of high resolution: an interval timer of CPU time is looked at by the kernel's tick alone. Not
// allowed everywhere (kernel.perf_event_paranoid above 2, seccomp). Its descriptor is the host's to
// see, and perhaps to close.
#pragma once

#include <signal.h>

#include <cstdint>

namespace sonde::preload::stack {

// The descriptor; -errno. The thread gets `signal` from now on, with POLL_IN.
int openCpuClock(std::int64_t periodNs, int signal) noexcept;
// Ends it, unless the host has closed it: the descriptor may be one of the host's by now, though no
// perf event then.
void closeCpuClock(int descriptor) noexcept;

}  // namespace sonde::preload::stack
