#include "collector/preload/stack/interposer/thread_timers.h"

#include "collector/core/platform/symbol_versions.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/stack/interposer/cpu_clock_event.h"
#include "collector/preload/stack/interposer/own_memory.h"
#include "collector/preload/stack/interposer/own_signal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

#include <atomic>
#include <utility>

namespace sonde::preload::stack {

namespace {

char gTimerMark;  // the si_value that identifies a timer's signal

// A thread may have two.
constexpr std::size_t kMostTimers = 8192;
constexpr long kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kLongestTickNs = 10'000'000;  // the kernel's, with CONFIG_HZ=100

// Kernel ids of running timers, + 1. For a perf event: kIsEvent, the descriptor, and the lowest
// bits of its id. 0: free.
constexpr std::uint64_t kIsEvent = std::uint64_t{1} << 63;
constexpr int kIdBits = 40;
static_assert(kCpuClockIdMask >> kIdBits == 0);
constexpr int kMostDescriptor = 1 << 22;
constinit std::atomic<std::uint64_t> gTimers[kMostTimers];
constinit std::atomic<bool> gHasKey{false};
constinit pthread_key_t gKey = 0;

using Slot = std::atomic<std::uint64_t>;

// The timers of the calling thread.
struct Clock {
  Slot* timer;
  Slot* event;
  CpuClock open;  // the perf event
  CpuAccount account;
};
constinit __thread Clock tClock __attribute__((tls_model("initial-exec"))) = {};

std::uint64_t wordOf(const CpuClock& clock) noexcept {
  return kIsEvent | static_cast<std::uint64_t>(clock.descriptor) << kIdBits | clock.id;
}

CpuClock clockOf(std::uint64_t word) noexcept {
  return {static_cast<int>((word & ~kIsEvent) >> kIdBits), word & kCpuClockIdMask};
}

void stop(Slot* slot) noexcept {
  const std::uint64_t word = slot == nullptr ? 0 : slot->exchange(0, std::memory_order_seq_cst);
  if (word == 0)
    return;
  if ((word & kIsEvent) != 0)
    endCpuClock(clockOf(word));
  else
    core::rawSyscall(SYS_timer_delete, static_cast<long>(word) - 1);
}

void setMask(const std::uint64_t* mask, std::uint64_t* before) noexcept {
  core::rawSyscall(
      SYS_rt_sigprocmask, SIG_SETMASK, core::asLong(mask), core::asLong(before), sizeof *mask);
}

// Uses a system call: libc's function may not be called in a handler.
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

// Runs last of the thread's own code; otherwise the kernel would keep the timer.
void threadEnds(void* /*value*/) {
  endTimer();
}

// Stores the timer and returns its slot. nullptr: there is no timer; or no slot, and the timer is
// stopped.
Slot* keep(std::uint64_t word) noexcept {
  if (word == 0)
    return nullptr;
  for (Slot& slot : gTimers) {
    std::uint64_t none = 0;
    if (slot.load(std::memory_order_relaxed) == 0 &&
        slot.compare_exchange_strong(none, word, std::memory_order_seq_cst))
      return &slot;
  }
  Slot alone{word};
  stop(&alone);
  return nullptr;
}

timespec inTime(std::int64_t ns) noexcept {
  return {static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
}

// Staggers the timers of threads that start together.
std::int64_t firstIn(std::int64_t periodNs, long tid) noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto seed = (static_cast<std::uint64_t>(now.tv_nsec) ^ static_cast<std::uint64_t>(tid)) *
                    0x9e37'79b9'7f4a'7c15;
  return static_cast<std::int64_t>((seed >> 20) % static_cast<std::uint64_t>(periodNs)) + 1;
}

// Whether the thread was interrupted in a system call, or while entering or leaving one.
bool isAfterSystemCall(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto at = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
  constexpr std::uint8_t kCall[] = {0x0f, 0x05};
#else
  const std::uintptr_t at = machine.pc;
  constexpr std::uint8_t kCall[] = {0x01, 0x00, 0x00, 0xd4};
#endif
  std::uint8_t code[sizeof kCall];
  return OwnMemory().read(at - sizeof kCall, code, sizeof code) &&
         memcmp(code, kCall, sizeof kCall) == 0;
}

// Returns the event's word; 0: it could not be opened, and `failure` is the error.
std::uint64_t makeEvent(std::int64_t periodNs, int& failure) noexcept {
  failure = openCpuClock(periodNs, kSignal, tClock.open);
  if (failure == 0 && tClock.open.descriptor < kMostDescriptor)
    return wordOf(tClock.open);
  if (failure == 0) {
    endCpuClock(tClock.open);
    failure = -EMFILE;
  }
  return 0;
}

// Returns the timer's word for gTimers; 0: it could not be created.
std::uint64_t makeTimer(std::int64_t periodNs) noexcept {
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
  return static_cast<std::uint64_t>(id) + 1;
}

}  // namespace

void prepareTimers() noexcept {
  gHasKey = pthread_key_create(&gKey, threadEnds) == 0;
}

int startTimer(std::int64_t periodNs) noexcept {
  if (!gHasKey)
    return 0;
  const std::uint64_t all = ~std::uint64_t{0};  // while there is no account
  std::uint64_t before = 0;
  setMask(&all, &before);
  tClock = {};
  int failure = 0;
  tClock.timer = keep(makeTimer(periodNs));
  if (tClock.timer != nullptr && periodNs < kLongestTickNs)
    tClock.event = keep(makeEvent(periodNs, failure));
  tClock.account = CpuAccount({cpuNs, kernelNs}, periodNs, tClock.event != nullptr);
  pthread_setspecific(gKey, &tClock);
  if (!hasSignal())
    endTimer();
  setMask(&before, nullptr);
  return failure;
}

Worth timeOf(const siginfo_t& signal, const void* context) noexcept {
  const bool isTick = signal.si_code == SI_TIMER && signal.si_value.sival_ptr == &gTimerMark;
  CpuAccount& account = tClock.account;
  if (!isTick) {
    const bool isEvent = signal.si_code == POLL_IN && signal.si_fd == tClock.open.descriptor;
    return isEvent && account.hasEvent() ? account.atEvent() : Worth{0, 0};
  }
  const bool inCall = account.hasEvent() && isAfterSystemCall(context);
  const Worth worth = account.atTick(1 + signal.si_overrun, inCall);
  if (account.missesEvent() && !isOpen(tClock.open))  // the host has closed it
    account.loseEvent();
  return worth;
}

void endHandler() noexcept {
  tClock.account.endHandler();
}

// Another thread may reuse its slots from now on: a second call for the same thread has no effect.
void endTimer() noexcept {
  stop(std::exchange(tClock.timer, nullptr));
  stop(std::exchange(tClock.event, nullptr));
}

void stopTimers() noexcept {
  for (Slot& slot : gTimers) {
    if (slot.load(std::memory_order_seq_cst) != 0)
      stop(&slot);
  }
}

void forgetTimers() noexcept {
  tClock = {};
  for (Slot& slot : gTimers) {
    const std::uint64_t word = slot.load(std::memory_order_relaxed);
    if (word == 0)
      continue;
    slot.store(0, std::memory_order_relaxed);
    if ((word & kIsEvent) != 0)  // a child inherits the descriptor, but not the event
      closeCpuClock(clockOf(word));
  }
}

}  // namespace sonde::preload::stack
