// Memory of libsonde_mpi.so, mapped directly from the kernel: zeroed, and touched only where it is
// used.
#pragma once

#include "collector/core/platform/syscalls.h"

#include <sys/mman.h>

#include <cstddef>

namespace sonde::preload::mpi {

// nullptr: no memory. `bytes` may be 0.
inline void* mapMemory(std::size_t bytes) noexcept {
  if (bytes == 0)
    return nullptr;
  const long at = core::rawSyscall(SYS_mmap,
                                   0,
                                   static_cast<long>(bytes),
                                   PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                   -1,
                                   0);
  return at < 0 && at > -4096 ? nullptr : reinterpret_cast<void*>(at);
}

inline void unmapMemory(void* memory, std::size_t bytes) noexcept {
  if (memory != nullptr)
    core::rawSyscall(SYS_munmap, core::asLong(memory), static_cast<long>(bytes));
}

}  // namespace sonde::preload::mpi
