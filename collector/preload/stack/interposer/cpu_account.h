// For how much of a thread's CPU time a signal stands. Signals are of two kinds: of a timer, which
// the kernel looks at when its clock ticks, also while the thread is in the kernel; and of a perf
// event, at any time, but silent while the thread is there, so that no call that waits is
// interrupted. What passed in the kernel is owed to the ticks that find a system call. Called by
// the thread itself or its signal handler.
#pragma once

#include <cstdint>

namespace sonde::preload::stack {

// What a sample stands for that is taken now; ns 0: none is to be taken.
struct Worth {
  std::int64_t ns;
  std::uint32_t lost;  // periods before it, which no sample stands for
};

class CpuAccount {
 public:
  // In ns, of the thread so far.
  struct Clocks {
    std::int64_t (*cpu)() noexcept;
    std::int64_t (*kernel)() noexcept;  // the part in the kernel; may be behind by a tick
  };

  constexpr CpuAccount() noexcept = default;
  CpuAccount(Clocks clocks, std::int64_t periodNs, bool hasEvent) noexcept;

  bool hasEvent() const noexcept { return hasEvent_; }
  Worth atEvent() noexcept;
  // `expirations`: the timer's, at least 1. `inCall`: the thread is in a system call.
  Worth atTick(std::int64_t expirations, bool inCall) noexcept;
  // The handler returns, whichever signal it was: what it took since one of these is none of the
  // program's time in the kernel.
  void endHandler() noexcept;

  // The thread has long run outside of the kernel without an event: it may have ended.
  bool missesEvent() const noexcept { return missesEvent_; }
  // It has: ticks alone from now on.
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
  std::int64_t toldNs_ = 0;     // of its CPU time, by samples or as owed
  std::int64_t handlerNs_ = 0;  // of what passed since then, handlers'
  std::int64_t skipped_ = 0;    // events since then
  std::int64_t enteredNs_ = 0;  // the handler; 0: it has not been
  std::int64_t kernelNs_ = 0;   // in the kernel, as far as it has counted as that
  std::int64_t owedNs_ = 0;     // that it spent there and no sample stands for yet
};

}  // namespace sonde::preload::stack
