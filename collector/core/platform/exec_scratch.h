// Memory for the moment before an exec. The stack may be a signal handler's few KiB, and between
// vfork and exec the heap is the parent's.
#pragma once

#include "collector/core/platform/syscalls.h"

#include <sys/mman.h>

#include <cstddef>

namespace sonde::core {

// Returns use(memory). The memory is zeroed and lasts for the call; nullptr if none is available.
template <typename Use>
auto withScratch(std::size_t bytes, Use use) {
  const long room = rawSyscall(SYS_mmap,
                               0,
                               static_cast<long>(bytes),
                               PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS,
                               -1,
                               0);
  const bool failed = room < 0 && room >= -4095;
  const auto result = use(failed ? nullptr : reinterpret_cast<void*>(room));
  if (!failed)
    rawSyscall(SYS_munmap, room, static_cast<long>(bytes));
  return result;
}

}  // namespace sonde::core
