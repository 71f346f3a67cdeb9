#include "recorder/launcher/reaper.h"

#include "recorder/launcher/process_stat.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <ctime>
#include <system_error>

namespace sonde::launcher {

namespace {

std::uint64_t toNs(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_usec) * 1'000;
}

}  // namespace

Result<void> becomeSubreaper() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return Error{ErrorCode::Io,
                 fmt::format("cannot adopt orphans: {}", std::generic_category().message(errno))};
  return {};
}

ReapResult reapEnded() {
  ReapResult result;
  for (;;) {
    // Inspected before it is collected: the start time disappears with the zombie.
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR)
        continue;
      return result;  // ECHILD
    }
    if (ended.si_pid == 0) {
      result.childrenLeft = true;
      return result;
    }
    ReapedChild child;
    child.pid = ended.si_pid;
    if (const auto stat = readProcessStat(child.pid))
      child.startTime = stat->startTime;
    rusage usage{};
    if (wait4(child.pid, &child.waitStatus, WNOHANG, &usage) == child.pid) {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      child.monotonicNs = static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
      child.cpuNs = toNs(usage.ru_utime) + toNs(usage.ru_stime);
      result.reaped.push_back(child);
    }
  }
}

int exitStatusOf(int waitStatus) {
  return WIFSIGNALED(waitStatus) ? -WTERMSIG(waitStatus) : WEXITSTATUS(waitStatus);
}

}  // namespace sonde::launcher
