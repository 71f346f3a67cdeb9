#include "collector/preload/stack/interposer/own_signal.h"

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/may_read.h"
#include "collector/core/platform/syscalls.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>

#include <atomic>
#include <cstdint>

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
constinit SignalOwner gOwner{};
constinit Handler gHandler = nullptr;

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

// The host sets the signal's action, so Sonde gives the signal up and restores the default, which
// the host believes is in effect.
void giveUp(int number) noexcept {
  if (number != kSignal || !hasSignal() || !gOwner.hasOwnMemory() ||
      !gHas.exchange(false, std::memory_order_seq_cst))
    return;
  const int error = errno;
  gOwner.lost();
  struct sigaction none {};
  none.sa_handler = SIG_DFL;
  gSigaction()(kSignal, &none, nullptr);
  errno = error;
}

// Whether the previous handler is Sonde's, which the host must not see: in a child of vfork it
// still is.
bool isOurs(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == gHandler;
}

sighandler_t seen(int number, sighandler_t before) noexcept {
  const bool ours =
      reinterpret_cast<std::uintptr_t>(before) == reinterpret_cast<std::uintptr_t>(gHandler);
  return number == kSignal && ours ? SIG_DFL : before;
}

// The set that a caller waits for. If it contains all signals, Sonde's signal is removed.
const sigset_t* awaited(const sigset_t* set, sigset_t& own) noexcept {
  if (set == nullptr || !hasSignal() ||
      !core::mayReadThing(reinterpret_cast<const std::uint64_t*>(set)) ||
      sigismember(set, kSignal) != 1)
    return set;
  if (sigismember(set, SIGCHLD) != 1 || sigismember(set, SIGWINCH) != 1) {
    giveUp(kSignal);
    return set;
  }
  sigemptyset(&own);
  memcpy(&own, set, sizeof(std::uint64_t));  // the part that the kernel reads
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
  gHandler = handler;
  const bool taken = gSigaction()(kSignal, &action, nullptr) == 0;
  gHas.store(taken, std::memory_order_seq_cst);
  return taken;
}

bool hasSignal() noexcept {
  return gHas.load(std::memory_order_seq_cst);
}

void forgetSignal() noexcept {
  gHas.store(false, std::memory_order_seq_cst);
}

void setSignalOwner(const SignalOwner& owner) noexcept {
  gOwner = owner;
}

}  // namespace sonde::preload::stack

using namespace sonde::preload::stack;

SONDE_EXPORT int sigaction(int number,
                           const struct sigaction* action,
                           struct sigaction* before) noexcept {
  if (action != nullptr)
    giveUp(number);
  const int result = gSigaction()(number, action, before);
  if (result == 0 && number == kSignal && before != nullptr && isOurs(*before))
    *before = {};
  return result;
}

SONDE_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  giveUp(number);
  return seen(number, gSignal()(number, handler));
}

SONDE_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  giveUp(number);
  return seen(number, gBsdSignal()(number, handler));
}

SONDE_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  giveUp(number);
  return seen(number, gSysvSignal()(number, handler));
}

SONDE_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  giveUp(number);
  return seen(number, gUnderSysvSignal()(number, handler));
}

SONDE_EXPORT sighandler_t sigset(int number, sighandler_t handler) noexcept {
  giveUp(number);
  return seen(number, gSigset()(number, handler));
}

SONDE_EXPORT int sigignore(int number) noexcept {
  giveUp(number);
  return gSigignore()(number);
}

SONDE_EXPORT int sigwait(const sigset_t* set, int* number) {
  sigset_t own;
  return gSigwait()(awaited(set, own), number);
}

SONDE_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  sigset_t own;
  return gSigwaitinfo()(awaited(set, own), info);
}

SONDE_EXPORT int signalfd(int descriptor, const sigset_t* set, int flags) noexcept {
  sigset_t own;
  return gSignalfd()(descriptor, awaited(set, own), flags);
}

SONDE_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* patience) {
  sigset_t own;
  return gSigtimedwait()(awaited(set, own), info, patience);
}
