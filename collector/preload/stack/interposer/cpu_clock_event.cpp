#include "collector/preload/stack/interposer/cpu_clock_event.h"

#include "collector/core/platform/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <atomic>

namespace sonde::preload::stack {
namespace {

// High, so that programs that expect the next free number are not disturbed.
constexpr long kLowestDescriptor = 400;

int closed(long descriptor, long error) noexcept {
  core::rawSyscall(SYS_close, descriptor);
  return static_cast<int>(error);
}

constinit std::atomic<std::uint64_t> gOpen{0};

// Whether the host's limit leaves room: Sonde uses at most a quarter of the descriptors.
bool isRoom() noexcept {
  rlimit limit{};
  core::rawSyscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, core::asLong(&limit));
  return limit.rlim_cur > 2 * kLowestDescriptor &&
         gOpen.load(std::memory_order_relaxed) < limit.rlim_cur / 4;
}

// 0: not a perf event; other files have no such id.
std::uint64_t idOf(long descriptor) noexcept {
  std::uint64_t id = 0;
  const bool has =
      core::rawSyscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ID, core::asLong(&id)) == 0;
  return has ? id : 0;
}

// Moves the descriptor to a high number, so that programs that expect the next free number are not
// disturbed.
long movedUp(long descriptor) noexcept {
  const long high = core::rawSyscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, kLowestDescriptor);
  core::rawSyscall(SYS_close, descriptor);
  return high;
}

}  // namespace

int openCpuClock(std::int64_t periodNs, int signal, CpuClock& clock) noexcept {
  clock = {};
  if (!isRoom())
    return -EMFILE;
  perf_event_attr what{};
  what.size = sizeof what;
  what.type = PERF_TYPE_SOFTWARE;
  what.config = PERF_COUNT_SW_TASK_CLOCK;
  what.sample_period = static_cast<std::uint64_t>(periodNs);
  what.exclude_kernel = 1;
  what.exclude_hv = 1;
  what.disabled = 1;
  long descriptor =
      core::rawSyscall(SYS_perf_event_open, core::asLong(&what), 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor >= 0)
    descriptor = movedUp(descriptor);
  if (descriptor < 0)
    return static_cast<int>(descriptor);
  const f_owner_ex owner{F_OWNER_TID, static_cast<pid_t>(core::rawSyscall(SYS_gettid))};
  const long steps[] = {
      core::rawSyscall(SYS_fcntl, descriptor, F_SETFL, O_ASYNC | O_NONBLOCK),
      core::rawSyscall(SYS_fcntl, descriptor, F_SETSIG, signal),
      core::rawSyscall(SYS_fcntl, descriptor, F_SETOWN_EX, core::asLong(&owner)),
      core::rawSyscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ENABLE, 0),
  };
  for (const long step : steps) {
    if (step < 0)
      return closed(descriptor, step);
  }
  gOpen.fetch_add(1, std::memory_order_relaxed);
  clock = {static_cast<int>(descriptor), idOf(descriptor) & kCpuClockIdMask};
  return 0;
}

bool isOpen(const CpuClock& clock) noexcept {
  const std::uint64_t id = idOf(clock.descriptor);
  return id != 0 && (id & kCpuClockIdMask) == clock.id;
}

void endCpuClock(const CpuClock& clock) noexcept {
  if (isOpen(clock))
    core::rawSyscall(SYS_ioctl, clock.descriptor, PERF_EVENT_IOC_DISABLE, 0);
  closeCpuClock(clock);
}

void closeCpuClock(const CpuClock& clock) noexcept {
  gOpen.fetch_sub(1, std::memory_order_relaxed);
  if (isOpen(clock))
    core::rawSyscall(SYS_close, clock.descriptor);
}

}  // namespace sonde::preload::stack
