// Inspects the program that is about to run and decides whether libsonde_preload.so can go into it.
// The library asks before an exec, the launcher before it starts the command. Stateless; any
// thread, also between vfork and exec: no allocation, no errno, less than 1 KiB of stack.
#pragma once

#include "collector/core/platform/companions.h"

#include <cstddef>

namespace sonde::core {

struct ExecTarget {
  bool found = false;  // false: nothing is known; running it fails, or libc finds a way
  // Why Sonde does not follow, as text for the user; nullptr: it does.
  const char* reason = nullptr;
  // The library in LD_PRELOAD would break the program, or make it print warnings.
  bool mustStrip = false;
  CompanionSet companions = 0;  // libraries that go along; Python may call any library
};

// Inspects the program `path`, relative to `folder` (AT_FDCWD, or a descriptor). If `path` is
// empty, the descriptor `folder` itself is the program. For a script, inspects its interpreter.
// `environment`: what the program gets; a sanitizer that it preloads must stay the first library.
ExecTarget inspectTarget(int folder, const char* path, char* const* environment) noexcept;

// Finds `file` in PATH as execvp(3) does; false if it is not there. `out` has `size` bytes.
bool findInPath(const char* file, char* out, std::size_t size) noexcept;

}  // namespace sonde::core
