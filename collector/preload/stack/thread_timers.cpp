#include "collector/preload/stack/thread_timers.h"

#include "collector/core/symbol_versions.h"
#include "collector/core/syscalls.h"
#include "collector/preload/stack/own_signal.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include <atomic>

namespace sonde::preload::stack {

char gTimerMark;

namespace {

constexpr std::size_t kMostTimers = 4096;
constexpr long kNsPerSecond = 1'000'000'000;

// Kernel ids of timers that run, + 1.
constinit std::atomic<std::int32_t> gTimers[kMostTimers];
constinit std::atomic<bool> gHasKey{false};
constinit pthread_key_t gKey = 0;

void stop(std::atomic<std::int32_t>& timer) noexcept {
  if (const std::int32_t id = timer.exchange(0, std::memory_order_acq_rel); id != 0)
    core::rawSyscall(SYS_timer_delete, id - 1);
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

}  // namespace

void prepareTimers() noexcept {
  gHasKey = pthread_key_create(&gKey, threadEnds) == 0;
}

void startTimer(std::int64_t periodNs) noexcept {
  std::atomic<std::int32_t>* place = gHasKey ? freePlace() : nullptr;
  if (place == nullptr)
    return;
  const long tid = core::rawSyscall(SYS_gettid);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event.sigev_value.sival_ptr = &gTimerMark;
  event._sigev_un._tid = static_cast<pid_t>(tid);
  std::int32_t id = 0;
  if (core::rawSyscall(
          SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, core::asLong(&event), core::asLong(&id)) !=
      0) {
    place->store(0, std::memory_order_release);
    return;
  }
  const itimerspec times{inTime(periodNs), inTime(firstIn(periodNs, tid))};
  core::rawSyscall(SYS_timer_settime, id, 0, core::asLong(&times), 0);
  place->store(id + 1, std::memory_order_release);
  pthread_setspecific(gKey, place);
  if (!hasSignal())
    stop(*place);
}

void stopTimers() noexcept {
  for (auto& timer : gTimers) {
    if (timer.load(std::memory_order_relaxed) > 0)
      stop(timer);
  }
}

void forgetTimers() noexcept {
  for (auto& timer : gTimers)
    timer.store(0, std::memory_order_relaxed);
}

}  // namespace sonde::preload::stack
