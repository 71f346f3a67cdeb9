// Memory of the descriptor table, mapped without libc. Stateless; keeps errno.
#pragma once

#include "collector/core/platform/syscalls.h"

#include <sys/mman.h>

#include <cstddef>

namespace sonde::preload {

// Returns zeroed memory, nullptr if there is none. `kind`: MAP_PRIVATE or MAP_SHARED.
inline void* mapMemory(std::size_t bytes, int kind) noexcept {
  const long address = core::rawSyscall(SYS_mmap,
                                        0,
                                        static_cast<long>(bytes),
                                        PROT_READ | PROT_WRITE,
                                        kind | MAP_ANONYMOUS | MAP_NORESERVE,
                                        -1,
                                        0);
  return address < 0 && address >= -4095 ? nullptr : reinterpret_cast<void*>(address);
}

inline void unmapMemory(void* address, std::size_t bytes) noexcept {
  if (address != nullptr)
    core::rawSyscall(SYS_munmap, core::asLong(address), static_cast<long>(bytes));
}

}  // namespace sonde::preload
