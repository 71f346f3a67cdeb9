// A perf event that interrupts the calling thread each time it has run for one period, with a
// high-resolution timer. An interval timer of CPU time is only checked at the kernel's ticks. Not
// allowed everywhere (kernel.perf_event_paranoid above 2, seccomp). The host can see its descriptor
// and may close it.
#pragma once

#include <signal.h>

#include <cstdint>

namespace sonde::preload::stack {

// The masked ids are unique on a machine for a long time.
inline constexpr std::uint64_t kCpuClockIdMask = (std::uint64_t{1} << 40) - 1;

struct CpuClock {
  int descriptor = -1;
  std::uint64_t id = 0;  // the lowest bits of the kernel's id
};

// Returns 0 or -errno. The thread then gets `signal`, with POLL_IN.
int openCpuClock(std::int64_t periodNs, int signal, CpuClock& clock) noexcept;
// Whether the event is still open: the host may have closed the descriptor and opened another file
// with its number.
bool isOpen(const CpuClock& clock) noexcept;
// Ends the event even if others, such as a child, have the descriptor. Does nothing if it is not
// open.
void endCpuClock(const CpuClock& clock) noexcept;
// In a forked child: closes the descriptor; the parent keeps the event.
void closeCpuClock(const CpuClock& clock) noexcept;

}  // namespace sonde::preload::stack
