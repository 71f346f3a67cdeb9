// What the kernel says about a process: the files of /proc/PID. Plain values; any thread may call.
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
  std::uint64_t startTime = 0;  // clock ticks since boot; with the pid it names a process for ever
  std::uint64_t cpuNs = 0;      // user and system time so far
  std::uint64_t residentBytes = 0;
};

// NotFound when there is no such process (any more), Busy when files or memory have run out.
Result<ProcessStat> readProcessStat(pid_t pid);

// The text of one line of /proc/PID/stat; split out so that odd program names can be tested.
Result<ProcessStat> parseProcessStat(const std::string& line);

// Whether the process that had this pid and start time still runs. A zombie counts as dead
// when none of its threads runs; one that cannot be looked at because files have run out, as alive.
bool processAlive(pid_t pid, std::uint64_t startTime);

// The arguments and the environment as the process was started with, empty when they cannot be read
// (it has gone, it belongs to somebody else).
std::vector<std::string> readCommandLine(pid_t pid);
std::vector<std::string> readEnvironment(pid_t pid);
std::string readExecutable(pid_t pid);

}  // namespace sonde::launcher
