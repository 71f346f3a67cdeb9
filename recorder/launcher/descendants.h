// The processes that this one has started, and those that they have started. Any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace sonde::launcher {

struct RunningProcess {
  pid_t pid = 0;
  std::uint64_t startTime = 0;  // as in ProcessStat
};

// All that run now, parents before their children. A process whose parents have all ended is one if
// this process is a subreaper (reaper.h). Zombies are left out.
std::vector<RunningProcess> descendants();

// Whether the process has a handler for the signal. False if it is gone.
bool catchesSignal(pid_t pid, int signal);

// Sends it unless the pid belongs to another process by now.
void sendSignal(const RunningProcess& process, int signal);

}  // namespace sonde::launcher
