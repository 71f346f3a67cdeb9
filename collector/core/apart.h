// Sonde's own descriptors, which it has for moments. Other threads of the host open and close
// meanwhile: a number that is the lowest free one would be missing among theirs, and one that they
// close together with all others, and are given again, would be closed here.
#pragma once

#include "collector/core/syscalls.h"

#include <fcntl.h>

namespace sonde::core {

// The smallest table of descriptors that Linux makes has 64 places. When a process with several
// threads needs a larger one, the thread that asked for it waits for all processors, 10 ms and more
// (expand_fdtable in fs/file.c), while all others see the low number taken: up to here the number is
// one that every table has. Above, the host is about to need a larger table itself.
inline constexpr long kLastPlaces = 48;

// A new descriptor, at a higher number where there is one free; negative ones stay what they are.
inline long apart(long fd) noexcept {
  if (fd < 0)
    return fd;
  const long lowest = fd < kLastPlaces - 8 ? kLastPlaces : 2 * fd;
  const long high = rawSyscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest);
  if (high < 0)
    return fd;
  rawSyscall(SYS_close, fd);
  return high;
}

}  // namespace sonde::core
