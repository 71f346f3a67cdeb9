// Whether Sonde's library can go along into a program without harm. A program that it would break
// is run as it is, and the trace says so (`loss.reason = 'not followed'`). Stateless; any thread.
#pragma once

#include "collector/core/platform/companions.h"

#include <string>
#include <vector>

namespace sonde::launcher {

struct FollowCheck {
  bool follow = true;
  std::string
      reason;  // why not, for a person: "static", "setuid", "32-bit", "musl", "sanitizer", …
  core::CompanionSet companions = 0;  // as core::ExecTarget has it
};

// `path` is what execve(2) would be given; a script's interpreter is what counts. `environment` is
// the program's own: a sanitizer that it preloads must stay the first library.
FollowCheck checkFollow(const std::string& path, const std::vector<std::string>& environment);

}  // namespace sonde::launcher
