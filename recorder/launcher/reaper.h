// Collects the exit statuses of the recorder's children: the job's main process and, as a
// subreaper, the processes that the job leaves behind. Main thread only.
#pragma once

#include "base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace sonde::launcher {

struct ReapedChild {
  pid_t pid = 0;
  std::uint64_t startTime = 0;   // as in ProcessStat
  int waitStatus = 0;            // from wait(2)
  std::int64_t monotonicNs = 0;  // when it was collected
  std::uint64_t cpuNs = 0;       // used by it and by the children that it waited for
};

// From now on the job's orphans become children of this process instead of init's.
Result<void> becomeSubreaper();

struct ReapResult {
  std::vector<ReapedChild> reaped;
  bool childrenLeft = false;
};

// Collects all children that have ended; never waits.
ReapResult reapEnded();

// Returns the exit status in a wait(2) status, or minus the signal's number.
int exitStatusOf(int waitStatus);

}  // namespace sonde::launcher
