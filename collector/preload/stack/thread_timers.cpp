#include "collector/preload/stack/thread_timers.h"

#include "collector/core/symbol_versions.h"
#include "collector/core/syscalls.h"
#include "collector/preload/stack/cpu_clock_event.h"
#include "collector/preload/stack/own_signal.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

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

// Of the calling thread, when it has an event.
struct Event {
  int descriptor;
  std::int64_t toldNs;  // of its CPU time, by its last sample
};
constinit __thread Event tEvent __attribute__((tls_model("initial-exec"))) = {-1, 0};

void stop(std::atomic<std::int32_t>& timer) noexcept {
  const std::int32_t id = timer.exchange(0, std::memory_order_acq_rel);
  if ((id & kIsEvent) != 0)
    closeCpuClock(id & ~kIsEvent);
  else if (id != 0)
    core::rawSyscall(SYS_timer_delete, id - 1);
}

// By a system call: in a handler libc's own is none of the functions that may be called.
std::int64_t cpuNs() noexcept {
  timespec now{};
  core::rawSyscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, core::asLong(&now));
  return now.tv_sec * std::int64_t{kNsPerSecond} + now.tv_nsec;
}

// The thread's last own code: the kernel would keep the timer.
void threadEnds(void* place) {
  stop(*static_cast<std::atomic<std::int32_t>*>(place));
}

std::atomic<std::int32_t>* freePlace() noexcept {
  for (auto& timer : gTimers) {
    std::int32_t none = 0;
    // Taken with a number that is no timer's.
    if (timer.load(std::memory_order_relaxed) == 0 &&
        timer.compare_exchange_strong(none, -1, std::memory_order_acq_rel))
      return &timer;
  }
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
  std::atomic<std::int32_t>* place = gHasKey ? freePlace() : nullptr;
  if (place == nullptr)
    return 0;
  tEvent = {-1, cpuNs()};
  if (periodNs < kLongestTickNs)
    tEvent.descriptor = openCpuClock(periodNs, kSignal);
  const int failure = periodNs < kLongestTickNs && tEvent.descriptor < 0 ? tEvent.descriptor : 0;
  place->store(tEvent.descriptor >= 0 ? tEvent.descriptor | kIsEvent : makeTimer(periodNs),
               std::memory_order_release);
  pthread_setspecific(gKey, place);
  if (!hasSignal())
    stop(*place);
  return failure;
}

std::int64_t timeOf(const siginfo_t& signal, std::int64_t periodNs) noexcept {
  if (signal.si_code == SI_TIMER && signal.si_value.sival_ptr == &gTimerMark)
    return periodNs * (1 + signal.si_overrun);
  if (signal.si_code != POLL_IN || signal.si_fd != tEvent.descriptor)
    return 0;
  const std::int64_t before = tEvent.toldNs;
  tEvent.toldNs = cpuNs();
  return tEvent.toldNs - before;
}

void stopTimers() noexcept {
  for (auto& timer : gTimers) {
    if (timer.load(std::memory_order_relaxed) > 0)
      stop(timer);
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
