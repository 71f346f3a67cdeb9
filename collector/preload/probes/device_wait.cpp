#include "collector/preload/probes/device_wait.h"

#include "collector/core/symbol_versions.h"
#include "collector/core/syscalls.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

namespace sonde::preload::cuda {
namespace {

// Returns when it has changed, and sometimes before; nullptr: however long that takes.
void waitWhile(std::atomic<std::uint32_t>& number,
               std::uint32_t value,
               const timespec* patience) noexcept {
  core::rawSyscall(SYS_futex,
                   core::asLong(&number),
                   FUTEX_WAIT_PRIVATE,
                   static_cast<long>(value),
                   core::asLong(patience));
}

void set(std::atomic<std::uint32_t>& number, std::uint32_t value) noexcept {
  number.store(value, std::memory_order_release);
  core::rawSyscall(SYS_futex, core::asLong(&number), FUTEX_WAKE_PRIVATE, 1);
}

std::int64_t monotonicMs() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

void* DeviceWait::run(void* self) noexcept {
  auto& wait = *static_cast<DeviceWait*>(self);
  core::rawSyscall(SYS_prctl, PR_SET_NAME, core::asLong("sonde-counters"));
  for (std::uint32_t last = 0;;) {
    const std::uint32_t request = wait.requested_.load(std::memory_order_acquire);
    if (request == last) {
      waitWhile(wait.requested_, last, nullptr);
      continue;
    }
    last = request;
    wait.result_ = wait.driver_->setContext(wait.context_);
    if (wait.result_ == 0)
      wait.result_ = wait.driver_->synchronize();
    set(wait.answered_, request);
  }
}

// The job's signals are not for it, but for the two of glibc's own (SIGCANCEL, SIGSETXID): setuid()
// and its like wait until every thread has answered the latter.
bool DeviceWait::start() noexcept {
  constexpr std::uint64_t kGlibcs = std::uint64_t{3} << 31;
  const std::uint64_t all = ~kGlibcs;
  std::uint64_t before = 0;
  pthread_attr_t detached;
  pthread_t thread{};
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  core::rawSyscall(
      SYS_rt_sigprocmask, SIG_SETMASK, core::asLong(&all), core::asLong(&before), sizeof all);
  isRunning_ = pthread_create(&thread, &detached, run, this) == 0;
  core::rawSyscall(SYS_rt_sigprocmask, SIG_SETMASK, core::asLong(&before), 0, sizeof before);
  pthread_attr_destroy(&detached);
  return isRunning_;
}

Waited DeviceWait::untilAnswered(std::uint32_t request) noexcept {
  constexpr timespec kMoment{0, 50'000'000};
  const std::int64_t deadline = monotonicMs() + std::int64_t{kPatienceSeconds} * 1000;
  for (;;) {
    const std::uint32_t answered = answered_.load(std::memory_order_acquire);
    if (isGivenUp_.load(std::memory_order_acquire))
      return Waited::GivenUp;
    if (answered == request)
      return result_ == 0 ? Waited::Done : Waited::Failed;
    if (monotonicMs() >= deadline)
      return Waited::TooLong;
    waitWhile(answered_, answered, &kMoment);
  }
}

Waited DeviceWait::wait(const Driver& driver, void* context) noexcept {
  if (!isRunning_ && !start())
    return Waited::NoThread;
  driver_ = &driver;
  context_ = context;
  const std::uint32_t request = requested_.load(std::memory_order_relaxed) + 1;
  set(requested_, request);
  return untilAnswered(request);
}

void DeviceWait::giveUp() noexcept {
  isGivenUp_.store(true, std::memory_order_release);
}

}  // namespace sonde::preload::cuda
