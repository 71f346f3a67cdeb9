// What the program that is about to be run says about itself, as far as it decides whether
// libsonde_preload.so can go along into it. That library asks before an exec, and the launcher
// before it starts the command. Stateless; any thread, also between vfork and exec: no allocation,
// no errno, less than 1 KiB of stack.
#pragma once

#include "collector/core/platform/companions.h"

#include <cstddef>

namespace sonde::core {

struct ExecTarget {
  bool found = false;  // false: nothing is known of it; running it fails, or libc knows a way
  const char* reason = nullptr;  // why Sonde does not follow, for a person; nullptr: it does
  bool mustStrip = false;        // the library in LD_PRELOAD would break it, or make it complain
  CompanionSet companions = 0;   // that go along; Python may call any library
};

// The program behind `path`, which is taken relative to `folder` (AT_FDCWD, or a descriptor), or
// behind the descriptor `folder` itself when `path` is empty. Of a script its interpreter counts.
// `environment` is what the program gets: a sanitizer that it preloads must stay the first library.
ExecTarget inspectTarget(int folder, const char* path, char* const* environment) noexcept;

// Where execvp(3) finds `file` in PATH; false when it does not. `out` has `size` bytes.
bool findInPath(const char* file, char* out, std::size_t size) noexcept;

}  // namespace sonde::core
