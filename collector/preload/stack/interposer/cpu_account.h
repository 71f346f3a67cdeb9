// The CPU time of a thread that a signal represents. There are two kinds of signals. A timer's
// signal comes when the kernel's clock ticks, even while the thread is in the kernel. A perf
// event's signal comes at any time, but not while the thread is in the kernel, so it never
// interrupts a waiting call. Time spent in the kernel is owed to the ticks that find a system call.
// The thread itself or its signal handler calls these functions.
#pragma once

#include <cstdint>

namespace sonde::preload::stack {

// The CPU time that a sample taken now represents; ns 0: take none.
struct Worth {
  std::int64_t ns;
  std::uint32_t lost;  // earlier periods that no sample represents
};

class CpuAccount {
 public:
  // In ns, totals of the thread.
  struct Clocks {
    std::int64_t (*cpu)() noexcept;
    std::int64_t (*kernel)() noexcept;  // the part in the kernel; may be behind by a tick
  };

  constexpr CpuAccount() noexcept = default;
  CpuAccount(Clocks clocks, std::int64_t periodNs, bool hasEvent) noexcept;

  bool hasEvent() const noexcept { return hasEvent_; }
  Worth atEvent() noexcept;
  // `expirations`: of the timer, at least 1. `inCall`: the thread is in a system call.
  Worth atTick(std::int64_t expirations, bool inCall) noexcept;
  // The handler returns, after either kind of signal. Its time since atEvent() or atTick() does not
  // count as the program's.
  void endHandler() noexcept;

  // The thread has run outside the kernel for long without an event, which may have been closed.
  bool missesEvent() const noexcept { return missesEvent_; }
  // The event was closed: from now on only ticks count.
  void loseEvent() noexcept;

 private:
  std::int64_t enter() noexcept;
  std::int64_t silentOf(std::int64_t ns) const noexcept;
  std::int64_t inKernelOf(std::int64_t silentNs) noexcept;
  Worth worthOf(std::int64_t ns, std::int64_t explainedNs) const noexcept;

  Clocks clocks_{};
  std::int64_t periodNs_ = 0;
  bool hasEvent_ = false;
  bool missesEvent_ = false;
  std::int64_t toldNs_ = 0;     // CPU time that is already covered by samples or owed
  std::int64_t handlerNs_ = 0;  // time of handlers since then
  std::int64_t skipped_ = 0;    // events since then
  std::int64_t enteredNs_ = 0;  // when the handler was entered; 0: it has ended
  std::int64_t kernelNs_ = 0;   // time in the kernel that was already counted as such
  std::int64_t owedNs_ = 0;     // time in the kernel that no sample represents yet
};

}  // namespace sonde::preload::stack
