// Finds the file of a command as a shell does. Any thread may call.
#pragma once

#include <string>
#include <vector>

namespace sonde::launcher {

inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

struct CommandPath {
  std::string path;     // empty when it cannot be run
  int exitStatus = 0;   // 126 or 127 then
  std::string message;  // and why
};

// A name with a slash is taken as it stands, another is looked up in `searchPath` (as $PATH is
// written).
CommandPath findCommand(const std::string& name, const std::string& searchPath);

}  // namespace sonde::launcher
