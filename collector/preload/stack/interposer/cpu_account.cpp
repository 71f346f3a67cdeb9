#include "collector/preload/stack/interposer/cpu_account.h"

#include <algorithm>
#include <utility>

namespace sonde::preload::stack {
namespace {

// Time owed for longer than this was spent in page faults, not in a system call.
constexpr std::int64_t kLongOwedNs = 20'000'000;
// The kernel's account of a thread may lag this much.
constexpr std::int64_t kBehindNs = 20'000'000;
// Longest time outside the kernel without an event. Events are late when a hypervisor takes the
// processor away.
constexpr std::int64_t kLongSilentNs = 100'000'000;
// If a thread blocks the signal for longer than this, only the last period counts when it unblocks
// it. On a busy machine many periods may pass between two ticks that find the same thread running.
constexpr std::int64_t kMostMissedNs = 500'000'000;

}  // namespace

CpuAccount::CpuAccount(Clocks clocks, std::int64_t periodNs, bool hasEvent) noexcept
    : clocks_(clocks),
      periodNs_(periodNs),
      hasEvent_(hasEvent),
      toldNs_(hasEvent ? clocks.cpu() : 0),
      kernelNs_(clocks.kernel()) {}

std::int64_t CpuAccount::enter() noexcept {
  enteredNs_ = clocks_.cpu();
  return enteredNs_;
}

void CpuAccount::endHandler() noexcept {
  if (enteredNs_ != 0)
    handlerNs_ += clocks_.cpu() - std::exchange(enteredNs_, 0);
}

// How much of `ns` no event has reported. Events come one period apart.
std::int64_t CpuAccount::silentOf(std::int64_t ns) const noexcept {
  const std::int64_t rest = ns - (1 + skipped_) * periodNs_;
  return rest > periodNs_ / 2 ? rest : 0;
}

// How much of `silentNs` was in the kernel, limited by the kernel's own account.
std::int64_t CpuAccount::inKernelOf(std::int64_t silentNs) noexcept {
  if (silentNs == 0)
    return 0;
  const std::int64_t rest = clocks_.kernel() + kBehindNs - kernelNs_;
  const std::int64_t part = std::clamp<std::int64_t>(rest, 0, silentNs);
  kernelNs_ += part;
  return part;
}

// `explainedNs`: the part of `ns` that has a reason to be late.
Worth CpuAccount::worthOf(std::int64_t ns, std::int64_t explainedNs) const noexcept {
  if (ns < periodNs_ + kMostMissedNs + explainedNs)
    return {ns, 0};
  const std::int64_t kept = periodNs_ + explainedNs;
  return {kept, static_cast<std::uint32_t>((ns - kept) / periodNs_)};
}

Worth CpuAccount::atEvent() noexcept {
  const std::int64_t now = enter();
  const std::int64_t passed = now - toldNs_;
  const std::int64_t programs = passed - handlerNs_;
  if (programs < handlerNs_) {  // samples may take at most half of a thread's time
    ++skipped_;
    return {0, 0};
  }
  const std::int64_t inKernel = inKernelOf(silentOf(programs));
  toldNs_ = now;
  handlerNs_ = 0;
  skipped_ = 0;
  owedNs_ += inKernel;
  missesEvent_ = false;
  return worthOf(passed - inKernel, 0);
}

Worth CpuAccount::atTick(std::int64_t expirations, bool inCall) noexcept {
  if (!hasEvent_) {
    const std::int64_t before = std::exchange(kernelNs_, clocks_.kernel());
    return worthOf(periodNs_ * expirations + std::exchange(owedNs_, 0), kernelNs_ - before);
  }
  if (const std::int64_t silent = silentOf(enter() - toldNs_ - handlerNs_); silent > 0) {
    const std::int64_t inKernel = inKernelOf(silent);
    toldNs_ += inKernel;
    owedNs_ += inKernel;
    missesEvent_ = silent - inKernel > kLongSilentNs;
  }
  return inCall || owedNs_ > kLongOwedNs ? Worth{std::exchange(owedNs_, 0), 0} : Worth{0, 0};
}

void CpuAccount::loseEvent() noexcept {
  hasEvent_ = false;
  missesEvent_ = false;
  owedNs_ += enteredNs_ - toldNs_;
  kernelNs_ = clocks_.kernel();
}

}  // namespace sonde::preload::stack
