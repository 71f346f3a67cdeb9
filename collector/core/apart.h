// Sonde's own descriptors, which it has for moments. Other threads of the host open and close
// meanwhile: a number that is the lowest free one would be missing among theirs, and one that they
// close together with all others, and are given again, would be closed here.
#pragma once

#include "collector/core/syscalls.h"

#include <fcntl.h>

namespace sonde::core {

// A new descriptor, at a high number where there is one free; negative ones stay what they are.
inline long apart(long fd) noexcept {
  constexpr long kLowest = 960;  // of 1024, which most processes may have
  if (fd < 0 || fd >= kLowest)
    return fd;
  const long high = rawSyscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kLowest);
  if (high < 0)
    return fd;
  rawSyscall(SYS_close, fd);
  return high;
}

}  // namespace sonde::core
