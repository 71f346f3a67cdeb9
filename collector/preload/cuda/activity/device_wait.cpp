#include "collector/preload/cuda/activity/device_wait.h"

#include "collector/core/platform/clock.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/common/own_thread.h"
#include "collector/preload/cuda/activity/cuda_delivery.h"

#include <linux/futex.h>
#include <time.h>

#include <algorithm>
#include <limits>

namespace sonde::preload::cuda {
namespace {

// Returns when `number` has changed, and sometimes earlier. nullptr: no time limit.
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

// Returns the new value.
std::uint32_t add(std::atomic<std::uint32_t>& number) noexcept {
  const std::uint32_t value = number.fetch_add(1, std::memory_order_acq_rel) + 1;
  core::rawSyscall(SYS_futex, core::asLong(&number), FUTEX_WAKE_PRIVATE, 1);
  return value;
}

std::int64_t monotonicMs() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

// Runs until giveUp().
void DeviceWait::answer() noexcept {
  for (std::uint32_t last = 0; afterwards_.load(std::memory_order_acquire) == nullptr;) {
    const std::uint32_t request = requested_.load(std::memory_order_acquire);
    if (request == last) {
      waitWhile(requested_, last, nullptr);
      continue;
    }
    last = request;
    waitingFor_.store(context_, std::memory_order_relaxed);
    result_ = driver_->setContext(context_);
    if (result_ == 0)
      result_ = driver_->synchronize();
    waitingFor_.store(nullptr, std::memory_order_release);
    set(answered_, request);
  }
}

void DeviceWait::run(void* self) noexcept {
  constexpr timespec kAgain{1, 0};
  auto& wait = *static_cast<DeviceWait*>(self);
  const auto tid = static_cast<std::int32_t>(core::rawSyscall(SYS_gettid));
  leaveOutCallsOf(tid, std::numeric_limits<std::uint64_t>::max());
  wait.answer();
  const Afterwards afterwards = wait.afterwards_.load(std::memory_order_acquire);
  while (!afterwards())  // Sonde's own thread
    nanosleep(&kAgain, nullptr);
  leaveOutCallsOf(tid, core::readTicks());
}

bool DeviceWait::start() noexcept {
  isRunning_ = beginThread("sonde-counters", run, this);
  return isRunning_;
}

// A period in which the process was stopped counts as at most one moment.
Waited DeviceWait::untilAnswered(std::uint32_t request) noexcept {
  constexpr std::int64_t kMomentMs = 50;
  constexpr timespec kMoment{0, kMomentMs * 1'000'000};
  std::int64_t leftMs = std::int64_t{kPatienceSeconds} * 1000;
  for (std::int64_t last = monotonicMs();;) {  // ends with the patience
    const std::uint32_t answered = answered_.load(std::memory_order_acquire);
    if (afterwards_.load(std::memory_order_acquire) != nullptr)
      return Waited::GivenUp;
    if (answered == request)
      return result_ == 0 ? Waited::Done : Waited::Failed;
    if (leftMs <= 0)
      return Waited::TooLong;
    waitWhile(answered_, answered, &kMoment);
    const std::int64_t now = monotonicMs();
    leftMs -= std::min(now - last, 2 * kMomentMs);
    last = now;
  }
}

Waited DeviceWait::wait(const Driver& driver, void* context) noexcept {
  if (!isRunning_ && !start())
    return Waited::NoThread;
  driver_ = &driver;
  context_ = context;
  const std::uint32_t request = add(requested_);
  return untilAnswered(request);
}

void DeviceWait::giveUp(Afterwards afterwards) noexcept {
  afterwards_.store(afterwards, std::memory_order_release);
  add(requested_);
}

bool DeviceWait::isWaitingFor(void* context) const noexcept {
  return waitingFor_.load(std::memory_order_acquire) == context;
}

}  // namespace sonde::preload::cuda
