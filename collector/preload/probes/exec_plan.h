// What the wrappers in exec_calls.cpp and exec_spawn.cpp share. Usable between vfork and exec.
#pragma once

#include "collector/core/emit.h"
#include "collector/core/syscalls.h"
#include "collector/preload/probes/exec_env.h"
#include "collector/preload/probes/exec_target.h"

#include <alloca.h>
#include <sys/mman.h>

#include <cstddef>

namespace sonde::preload {

inline constexpr std::size_t kMaxPath = 4096;

// Looks at the program, and says in `target.reason` that this library is not to be seen by it
// (after a chroot).
ExecTarget planFor(int folder, const char* path, char* const* environment) noexcept;

// The record of an exec of this very thread. A forked child that has recorded nothing so far, and
// is followed, needs no spool for it: its new image has one.
void recordExec(const char* path, const ExecTarget& target) noexcept;

// Returns call(environment) with the environment that the new program is to get, in memory that
// lasts for the call. The stack serves but for huge ones: between vfork and exec the heap is the
// parent's.
template <typename Call>
auto withEnvironment(char* const* environment, const ExecTarget& target, Call call) {
  constexpr std::size_t kOnStack = 16384;
  const std::size_t bytes = environmentBytes(environment);
  if (bytes <= kOnStack)
    return call(buildEnvironment(environment, !target.mustStrip, alloca(bytes)));
  const long room = core::rawSyscall(SYS_mmap,
                                     0,
                                     static_cast<long>(bytes),
                                     PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS,
                                     -1,
                                     0);
  if (room < 0 && room >= -4095)
    return call(const_cast<char**>(environment));
  const auto result =
      call(buildEnvironment(environment, !target.mustStrip, reinterpret_cast<void*>(room)));
  core::rawSyscall(SYS_munmap, room, static_cast<long>(bytes));
  return result;
}

}  // namespace sonde::preload
