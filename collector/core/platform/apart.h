// Sonde's own descriptors, which it has for moments. Other threads of the host open and close
// meanwhile: a number that is the lowest free one would be missing among theirs, and one that they
// close together with all others, and are given again, would be closed here.
#pragma once

#include "collector/core/platform/syscalls.h"

#include <errno.h>
#include <fcntl.h>

namespace sonde::core {

// How large the process's table of descriptors is at least, which has this one. Linux makes tables
// of 64, 128, 256 … places. When a process with several threads needs a larger one, the thread that
// asked for it waits for all processors, 10 ms and more (expand_fdtable in fs/file.c), while all
// others see the low number taken: Sonde's own number shall not need one.
constexpr long placesWith(long fd) noexcept {
  long places = 64;
  while (places <= fd)  // doubles, past any descriptor within 32 rounds
    places *= 2;
  return places;
}

static_assert(placesWith(0) == 64 && placesWith(63) == 64 && placesWith(64) == 128);

// A new descriptor, at a higher number where there is one free; negative ones stay what they are.
inline long apart(long fd) noexcept {
  if (fd < 0)
    return fd;
  constexpr long kLastPlaces = 8;  // as many threads may have one at once
  const long last = placesWith(fd) - kLastPlaces;
  const long lowest = fd < last ? last : fd + 1;
  const long high = rawSyscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest);
  if (high == -EBADF)
    return high;  // another thread has closed it, and the number may be its own by now
  if (high < 0)
    return fd;
  rawSyscall(SYS_close, fd);
  return high;
}

}  // namespace sonde::core
