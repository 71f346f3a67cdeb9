// Finds the file of a command as a shell does. Any thread may call.
#pragma once

#include <string>
#include <vector>

namespace sonde::launcher {

inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

struct CommandPath {
  std::string path;     // empty if it cannot be run
  int exitStatus = 0;   // if it cannot be run: 126 or 127
  std::string message;  // if it cannot be run: the reason
};

// Takes a name with a slash as it is; looks others up in `searchPath`, which has the format of
// $PATH.
CommandPath findCommand(const std::string& name, const std::string& searchPath);

}  // namespace sonde::launcher
