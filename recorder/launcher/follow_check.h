// Whether Sonde's library can be loaded into a program without harm. A program that it would break
// is run unchanged, with a note in the trace (`loss.reason = 'not followed'`). Stateless; any
// thread.
#pragma once

#include "collector/core/platform/companions.h"

#include <string>
#include <vector>

namespace sonde::launcher {

struct FollowCheck {
  bool follow = true;
  std::string
      reason;  // why not, for the user: "static", "setuid", "32-bit", "musl", "sanitizer", …
  core::CompanionSet companions = 0;  // see core::ExecTarget
};

// `path`: the argument of execve(2); for a script, its interpreter is checked. `environment`: the
// program's own; a sanitizer that it preloads must stay the first library.
FollowCheck checkFollow(const std::string& path, const std::vector<std::string>& environment);

}  // namespace sonde::launcher
