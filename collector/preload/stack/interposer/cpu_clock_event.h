// A perf event that interrupts the calling thread each time that it has run for so long, by a timer
// of high resolution: an interval timer of CPU time is looked at by the kernel's tick alone. Not
// allowed everywhere (kernel.perf_event_paranoid above 2, seccomp). Its descriptor is the host's to
// see, and perhaps to close.
#pragma once

#include <signal.h>

#include <cstdint>

namespace sonde::preload::stack {

// No two of a machine have the same of these for long.
inline constexpr std::uint64_t kCpuClockIdMask = (std::uint64_t{1} << 40) - 1;

struct CpuClock {
  int descriptor = -1;
  std::uint64_t id = 0;  // the kernel's, its end
};

// 0, or -errno. The thread gets `signal` from now on, with POLL_IN.
int openCpuClock(std::int64_t periodNs, int signal, CpuClock& clock) noexcept;
// Whether it is still there: the host may have closed the descriptor, and opened another file in
// its place.
bool isOpen(const CpuClock& clock) noexcept;
// Ends it, whoever has the descriptor, too, as a child does. Nothing happens when it is not there.
void endCpuClock(const CpuClock& clock) noexcept;
// In a forked child, whose parent goes on with it.
void closeCpuClock(const CpuClock& clock) noexcept;

}  // namespace sonde::preload::stack
