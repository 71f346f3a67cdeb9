// The kernel's information about a process: the files of /proc/PID. Plain values; any thread may
// call.
#pragma once

#include "base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::launcher {

struct ProcessStat {
  pid_t pid = 0;
  pid_t parentPid = 0;
  char state = '?';  // of its first thread: R S D T Z X …
  std::uint32_t threads = 0;
  // Clock ticks since boot; identifies a process for ever, with the pid.
  std::uint64_t startTime = 0;
  std::uint64_t cpuNs = 0;  // user and system time so far
  std::uint64_t residentBytes = 0;
};

// NotFound: no such process (any more). Busy: files or memory have run out.
Result<ProcessStat> readProcessStat(pid_t pid);

// Parses the line of /proc/PID/stat; separate so that unusual program names can be tested.
Result<ProcessStat> parseProcessStat(const std::string& line);

// Whether the process that had this pid and start time still runs. A zombie counts as dead if none
// of its threads runs. A process that cannot be inspected for lack of files counts as alive.
bool processAlive(pid_t pid, std::uint64_t startTime);

// The arguments and the environment with which the process was started; empty if they cannot be
// read (it is gone, or belongs to another user).
std::vector<std::string> readCommandLine(pid_t pid);
std::vector<std::string> readEnvironment(pid_t pid);
std::string readExecutable(pid_t pid);

}  // namespace sonde::launcher
