#include "collector/preload/stack/own_signal.h"

#include "collector/core/hooks.h"
#include "collector/core/syscalls.h"

#include <errno.h>
#include <sys/signalfd.h>

#include <atomic>

namespace sonde::preload::stack {
namespace {

using core::Real;

using SigactionCall = int (*)(int, const struct sigaction*, struct sigaction*);
using SignalCall = sighandler_t (*)(int, sighandler_t);
using IgnoreCall = int (*)(int);
using WaitCall = int (*)(const sigset_t*, int*);
using WaitInfoCall = int (*)(const sigset_t*, siginfo_t*);
using DescriptorCall = int (*)(int, const sigset_t*, int);
using TimedWaitCall = int (*)(const sigset_t*, siginfo_t*, const timespec*);

constinit Real<SigactionCall> gSigaction{"sigaction"};
constinit Real<SignalCall> gSignal{"signal"};
constinit Real<SignalCall> gBsdSignal{"bsd_signal"};
constinit Real<SignalCall> gSysvSignal{"sysv_signal"};
constinit Real<SignalCall> gUnderSysvSignal{"__sysv_signal"};
constinit Real<SignalCall> gSigset{"sigset"};
constinit Real<IgnoreCall> gSigignore{"sigignore"};
constinit Real<WaitCall> gSigwait{"sigwait"};
constinit Real<WaitInfoCall> gSigwaitinfo{"sigwaitinfo"};
constinit Real<TimedWaitCall> gSigtimedwait{"sigtimedwait"};
constinit Real<DescriptorCall> gSignalfd{"signalfd"};

constinit std::atomic<bool> gHas{false};
constinit std::atomic<long> gProcess{0};  // that it is of
constinit std::atomic<void (*)()> gLost{nullptr};

__attribute__((constructor(102))) void resolve() {
  gSigaction();
  gSignal();
  gBsdSignal();
  gSysvSignal();
  gUnderSysvSignal();
  gSigset();
  gSigignore();
  gSigwait();
  gSigwaitinfo();
  gSigtimedwait();
  gSignalfd();
}

long processId() noexcept {
  return core::rawSyscall(SYS_getpid);
}

// The host sets what happens with the signal: it had the default so far, as far as it knows. A
// child of vfork or a raw clone does so for itself alone, and has no timers.
void giveUp(int number) noexcept {
  if (number != kSignal || gProcess.load(std::memory_order_relaxed) != processId() ||
      !gHas.exchange(false, std::memory_order_seq_cst))
    return;
  const int error = errno;
  if (const auto lost = gLost.load(std::memory_order_acquire); lost != nullptr)
    lost();
  struct sigaction none {};
  none.sa_handler = SIG_DFL;
  gSigaction()(kSignal, &none, nullptr);
  errno = error;
}

// A set that somebody waits for, without the signal.
const sigset_t* withoutOurs(const sigset_t* set, sigset_t& own) noexcept {
  if (set == nullptr || !hasSignal() || sigismember(set, kSignal) != 1)
    return set;
  own = *set;
  sigdelset(&own, kSignal);
  return &own;
}

}  // namespace

bool takeSignal(Handler handler) noexcept {
  struct sigaction before {};
  if (gSigaction()(kSignal, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
      before.sa_handler != SIG_DFL)
    return false;
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  const bool taken = gSigaction()(kSignal, &action, nullptr) == 0;
  ownSignalInChild();
  gHas.store(taken, std::memory_order_seq_cst);
  return taken;
}

bool hasSignal() noexcept {
  return gHas.load(std::memory_order_seq_cst);
}

void ownSignalInChild() noexcept {
  gProcess.store(processId(), std::memory_order_relaxed);
}

void onSignalLost(void (*lost)()) noexcept {
  gLost.store(lost, std::memory_order_release);
}

}  // namespace sonde::preload::stack

using namespace sonde::preload::stack;

SONDE_EXPORT int sigaction(int number,
                           const struct sigaction* action,
                           struct sigaction* before) noexcept {
  if (number == kSignal && hasSignal()) {
    if (action == nullptr) {
      if (before != nullptr)
        *before = {};
      return 0;
    }
    giveUp(number);
  }
  return gSigaction()(number, action, before);
}

SONDE_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  giveUp(number);
  return gSignal()(number, handler);
}

SONDE_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  giveUp(number);
  return gBsdSignal()(number, handler);
}

SONDE_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  giveUp(number);
  return gSysvSignal()(number, handler);
}

SONDE_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  giveUp(number);
  return gUnderSysvSignal()(number, handler);
}

SONDE_EXPORT sighandler_t sigset(int number, sighandler_t handler) noexcept {
  giveUp(number);
  return gSigset()(number, handler);
}

SONDE_EXPORT int sigignore(int number) noexcept {
  giveUp(number);
  return gSigignore()(number);
}

SONDE_EXPORT int sigwait(const sigset_t* set, int* number) {
  sigset_t own;
  return gSigwait()(withoutOurs(set, own), number);
}

SONDE_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  sigset_t own;
  return gSigwaitinfo()(withoutOurs(set, own), info);
}

SONDE_EXPORT int signalfd(int descriptor, const sigset_t* set, int flags) noexcept {
  sigset_t own;
  return gSignalfd()(descriptor, withoutOurs(set, own), flags);
}

SONDE_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* patience) {
  sigset_t own;
  return gSigtimedwait()(withoutOurs(set, own), info, patience);
}
