// What the wrappers in exec_calls.cpp and exec_spawn.cpp share. Usable between vfork and exec.
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

// Whether the environment is to be carried to the program that the caller names. Not where the
// kernel would not read the path or the environment: there it is libc's call alone that answers.
bool carriesTo(const char* path, char* const* environment) noexcept;

// Looks at the program, and says in `target.reason` that it will not see this library (after a
// chroot) or have no access to the spool (as another user): the rights are those that this process
// has now.
ExecTarget planFor(int folder, const char* path, char* const* environment) noexcept;

// The record of an exec of this very thread. A forked child that has recorded nothing so far, and
// is followed, needs no spool for it: its new image has one.
void recordExec(const char* path, const ExecTarget& target) noexcept;

// What of the caller's stack may be taken for an environment. That may be a signal handler's, of
// 8 KiB with the kernel's frame on it, or a coroutine's. An exec that succeeds after vfork never
// gives back what it has mapped into its parent, whose stack is used for more than that.
std::size_t environmentStackBytes() noexcept;

inline Preload preloadFor(const ExecTarget& target) noexcept {
  return {!target.mustStrip, target.companions};
}

// Returns call(environment) with the environment that the new program is to get: the caller's own
// when nothing is missing in it, else one in memory that lasts for the call.
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
