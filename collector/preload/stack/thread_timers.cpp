#include "collector/preload/stack/thread_timers.h"

#include "collector/core/symbol_versions.h"
#include "collector/core/syscalls.h"
#include "collector/preload/stack/cpu_clock_event.h"
#include "collector/preload/stack/own_signal.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

#include <atomic>

namespace sonde::preload::stack {

namespace {

char gTimerMark;  // tells a timer's signal from another: si_value

constexpr std::size_t kMostTimers = 4096;
constexpr long kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kLongestTickNs = 10'000'000;  // the kernel's, with CONFIG_HZ=100

// Kernel ids of timers that run, + 1; or kIsEvent and the descriptor of a perf event.
constexpr std::int32_t kIsEvent = 1 << 30;
constinit std::atomic<std::int32_t> gTimers[kMostTimers];
constinit std::atomic<bool> gHasKey{false};
constinit pthread_key_t gKey = 0;

// What the calling thread has.
struct Clock {
  std::atomic<std::int32_t>* timer;
  std::atomic<std::int32_t>* event;
  int descriptor;         // of the event
  std::int64_t toldNs;    // of its CPU time, by its last sample
  std::int64_t kernelNs;  // in the kernel, as far as it has counted as that
  std::int64_t owedNs;    // that it spent in the kernel and no sample stands for yet
};
constinit __thread Clock tClock __attribute__((tls_model("initial-exec"))) = {};

void stop(std::atomic<std::int32_t>* timer) noexcept {
  const std::int32_t id = timer == nullptr ? 0 : timer->exchange(0, std::memory_order_acq_rel);
  if (id <= 0)
    return;
  if ((id & kIsEvent) != 0)
    closeCpuClock(id & ~kIsEvent);
  else
    core::rawSyscall(SYS_timer_delete, id - 1);
}

// By a system call: in a handler libc's own is none of the functions that may be called.
std::int64_t cpuNs() noexcept {
  timespec now{};
  core::rawSyscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, core::asLong(&now));
  return now.tv_sec * std::int64_t{kNsPerSecond} + now.tv_nsec;
}

std::int64_t kernelNs() noexcept {
  rusage usage{};
  core::rawSyscall(SYS_getrusage, RUSAGE_THREAD, core::asLong(&usage));
  return usage.ru_stime.tv_sec * std::int64_t{kNsPerSecond} + usage.ru_stime.tv_usec * 1000L;
}

// The thread's last own code: the kernel would keep the timer.
void threadEnds(void* /*value*/) {
  stop(tClock.timer);
  stop(tClock.event);
}

// Where it is from now on; nullptr: there is none, or no place for it, and then it is stopped.
std::atomic<std::int32_t>* keep(std::int32_t id) noexcept {
  if (id == 0)
    return nullptr;
  for (auto& timer : gTimers) {
    std::int32_t none = 0;
    if (timer.load(std::memory_order_relaxed) == 0 &&
        timer.compare_exchange_strong(none, id, std::memory_order_acq_rel))
      return &timer;
  }
  std::atomic<std::int32_t> alone{id};
  stop(&alone);
  return nullptr;
}

timespec inTime(std::int64_t ns) noexcept {
  return {static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
}

// Threads that begin together are not interrupted together.
std::int64_t firstIn(std::int64_t periodNs, long tid) noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto seed = (static_cast<std::uint64_t>(now.tv_nsec) ^ static_cast<std::uint64_t>(tid)) *
                    0x9e37'79b9'7f4a'7c15;
  return static_cast<std::int64_t>((seed >> 20) % static_cast<std::uint64_t>(periodNs)) + 1;
}

// How much of that was in the kernel. An event is late now and then, too, as where a hypervisor
// takes the processor away, so that all that counts as the kernel's is no more than its own
// account, which it looks after at ticks.
std::int64_t inKernelOf(std::int64_t silentNs) noexcept {
  constexpr std::int64_t kAheadNs = 20'000'000;
  const std::int64_t rest = kernelNs() + kAheadNs - tClock.kernelNs;
  const std::int64_t part = silentNs < rest ? silentNs : rest;
  if (part <= 0)
    return 0;
  tClock.kernelNs += part;
  return part;
}

// Whether the thread was interrupted in a system call, or on its way into or out of one.
bool isAfterSystemCall(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto at = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
  constexpr std::uint8_t kCall[] = {0x0f, 0x05};
#else
  const std::uintptr_t at = machine.pc;
  constexpr std::uint8_t kCall[] = {0x01, 0x00, 0x00, 0xd4};
#endif
  // Code at the begin of a page may have none before it.
  return at % 4096 >= sizeof kCall &&
         memcmp(reinterpret_cast<const void*>(at - sizeof kCall), kCall, sizeof kCall) == 0;
}

// What is kept of it in gTimers; 0: there is none to be had.
std::int32_t makeTimer(std::int64_t periodNs) noexcept {
  const long tid = core::rawSyscall(SYS_gettid);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event.sigev_value.sival_ptr = &gTimerMark;
  event._sigev_un._tid = static_cast<pid_t>(tid);
  std::int32_t id = 0;
  if (core::rawSyscall(
          SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, core::asLong(&event), core::asLong(&id)) != 0)
    return 0;
  const itimerspec times{inTime(periodNs), inTime(firstIn(periodNs, tid))};
  core::rawSyscall(SYS_timer_settime, id, 0, core::asLong(&times), 0);
  return id + 1;
}

}  // namespace

void prepareTimers() noexcept {
  gHasKey = pthread_key_create(&gKey, threadEnds) == 0;
}

int startTimer(std::int64_t periodNs) noexcept {
  tClock = {nullptr, nullptr, -1, cpuNs(), kernelNs(), 0};
  if (!gHasKey)
    return 0;
  if (periodNs < kLongestTickNs) {
    tClock.descriptor = openCpuClock(periodNs, kSignal);
    if (tClock.descriptor >= 0)
      tClock.event = keep(tClock.descriptor | kIsEvent);
  }
  tClock.timer = keep(makeTimer(periodNs));
  pthread_setspecific(gKey, &tClock);
  if (!hasSignal())
    threadEnds(nullptr);
  return periodNs < kLongestTickNs && tClock.descriptor < 0 ? tClock.descriptor : 0;
}

// An event is silent while the thread is in the kernel, so that no call that waits is interrupted.
// What passed there while it was silent is owed to the kernel's ticks that find a system call: the
// timer's. What has been owed for long is in the kernel for another reason, such as page faults.
std::int64_t timeOf(const siginfo_t& signal, const void* context, std::int64_t periodNs) noexcept {
  constexpr std::int64_t kLongOwedNs = 20'000'000;
  const bool isTick = signal.si_code == SI_TIMER && signal.si_value.sival_ptr == &gTimerMark;
  if (isTick && tClock.event == nullptr)
    return periodNs * (1 + signal.si_overrun);
  if (!isTick && (signal.si_code != POLL_IN || signal.si_fd != tClock.descriptor))
    return 0;
  const std::int64_t now = cpuNs();
  const std::int64_t passed = now - tClock.toldNs;
  if (!isTick) {
    const std::int64_t silent = passed > periodNs + periodNs / 2 ? passed - periodNs : 0;
    const std::int64_t inKernel = silent > 0 ? inKernelOf(silent) : 0;
    tClock.toldNs = now;
    tClock.owedNs += inKernel;
    return passed - inKernel;
  }
  const std::int64_t silent = passed > periodNs + periodNs / 2 ? passed : 0;
  const std::int64_t owed = tClock.owedNs + silent;
  if (owed == 0 || !(isAfterSystemCall(context) || owed > kLongOwedNs))
    return 0;
  tClock.toldNs += silent;
  tClock.owedNs = 0;
  return owed;
}

void stopTimers() noexcept {
  for (auto& timer : gTimers) {
    if (timer.load(std::memory_order_relaxed) > 0)
      stop(&timer);
  }
}

void forgetTimers() noexcept {
  for (auto& timer : gTimers) {
    const std::int32_t id = timer.exchange(0, std::memory_order_relaxed);
    if (id > 0 && (id & kIsEvent) != 0)  // a descriptor is inherited, though its event is not
      closeCpuClock(id & ~kIsEvent);
  }
}

}  // namespace sonde::preload::stack
