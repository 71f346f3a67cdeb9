// Moves Sonde's own short-lived descriptors to high numbers, because other threads of the host open
// and close descriptors meanwhile. A descriptor of Sonde at the lowest free number would change the
// numbers that the host gets. If the host closed all descriptors, including Sonde's, and got its
// number again, Sonde would close the host's descriptor.
#pragma once

#include "collector/core/platform/syscalls.h"

#include <errno.h>
#include <fcntl.h>

namespace sonde::core {

// A lower bound of the size of the process's descriptor table, which contains `fd`. Linux makes
// tables of 64, 128, 256 … places. When a process with several threads needs a larger table, the
// thread that asks for it waits for all processors, 10 ms and more (expand_fdtable in fs/file.c).
// Meanwhile all other threads see the low number taken. Sonde's number must therefore not need a
// larger table.
constexpr long placesWith(long fd) noexcept {
  long places = 64;
  while (places <= fd)  // doubles, past any descriptor within 32 rounds
    places *= 2;
  return places;
}

static_assert(placesWith(0) == 64 && placesWith(63) == 64 && placesWith(64) == 128);

// Returns a new descriptor at a higher number, if one is free. Returns negative numbers unchanged.
inline long apart(long fd) noexcept {
  if (fd < 0)
    return fd;
  constexpr long kLastPlaces = 8;  // this many threads may have one at once
  const long last = placesWith(fd) - kLastPlaces;
  const long lowest = fd < last ? last : fd + 1;
  const long high = rawSyscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest);
  if (high == -EBADF)
    return high;  // another thread has closed it, and may own the number by now
  if (high < 0)
    return fd;
  rawSyscall(SYS_close, fd);
  return high;
}

}  // namespace sonde::core
