// Shared by the wrappers in exec_calls.cpp and exec_spawn.cpp. Usable between vfork and exec.
#pragma once

#include "collector/core/emit.h"
#include "collector/core/platform/exec_scratch.h"
#include "collector/core/platform/exec_target.h"
#include "collector/preload/process/exec_env.h"

#include <alloca.h>

#include <cstddef>

namespace sonde::preload {

using core::ExecTarget;
using core::withScratch;

inline constexpr std::size_t kMaxPath = 4096;

// Whether to carry the environment to the program that the caller names. Not if the kernel could
// not read the path or the environment: then libc's call alone reports the error.
bool carriesTo(const char* path, char* const* environment) noexcept;

// Inspects the program. Sets `target.reason` if the program will not see this library (after a
// chroot) or not have access to the spool (as another user). Assumes the rights that this process
// has now.
ExecTarget planFor(int folder, const char* path, char* const* environment) noexcept;

// Records an exec of the calling thread. A forked child that has recorded nothing so far, and is
// followed, needs no spool for that: its new image has one.
void recordExec(const char* path, const ExecTarget& target) noexcept;

// The bytes of the caller's stack that may be used for an environment. The stack may be a
// coroutine's, or a signal handler's of 8 KiB with the kernel's frame on it. Mapped memory is the
// alternative. But an exec that succeeds after vfork never unmaps memory that it mapped in its
// parent.
std::size_t environmentStackBytes() noexcept;

inline Preload preloadFor(const ExecTarget& target) noexcept {
  return {!target.mustStrip, target.companions};
}

// Returns call(environment) with the new program's environment: the caller's own if it is complete,
// else one in memory that lasts for the call.
template <typename Call>
auto withEnvironment(char* const* environment, const ExecTarget& target, Call call) {
  const Preload preload = preloadFor(target);
  if (isComplete(environment, preload))
    return call(const_cast<char**>(environment));
  const std::size_t bytes = environmentBytes(environment);
  if (bytes <= environmentStackBytes())
    return call(buildEnvironment(environment, preload, alloca(bytes)));
  return withScratch(bytes, [&](void* room) {
    return call(room == nullptr ? const_cast<char**>(environment)
                                : buildEnvironment(environment, preload, room));
  });
}

}  // namespace sonde::preload
