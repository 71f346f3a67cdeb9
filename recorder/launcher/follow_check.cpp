#include "recorder/launcher/follow_check.h"

#include "collector/core/platform/exec_target.h"

#include <fcntl.h>

namespace sonde::launcher {

FollowCheck checkFollow(const std::string& path, const std::vector<std::string>& environment) {
  std::vector<char*> entries;
  entries.reserve(environment.size() + 1);
  for (const std::string& entry : environment)
    entries.push_back(const_cast<char*>(entry.c_str()));
  entries.push_back(nullptr);
  auto target = core::inspectTarget(AT_FDCWD, path.c_str(), entries.data());
  if (!target.found)  // a script without `#!`: /bin/sh reads it
    target = core::inspectTarget(AT_FDCWD, "/bin/sh", entries.data());
  return {
      target.reason == nullptr, target.reason == nullptr ? "" : target.reason, target.companions};
}

}  // namespace sonde::launcher
