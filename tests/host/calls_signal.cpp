// Signal actions, and waiting for signals.
#include "tests/host/calls.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

extern "C" {
sighandler_t bsd_signal(int number, sighandler_t handler);
sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept;
}

namespace host {
namespace {

constexpr int kNumbers[] = {SIGUSR2,
                            SIGURG,
                            SIGPROF,
                            SIGWINCH,
                            SIGCHLD,
                            SIGUSR2,
                            0,
                            -1,
                            65,
                            64,
                            SIGKILL,
                            SIGSTOP,
                            32,
                            1000};

void empty(int) {}

const char* nameOf(sighandler_t handler) noexcept {
  return handler == SIG_DFL    ? "default"
         : handler == SIG_IGN  ? "ignore"
         : handler == SIG_ERR  ? "error"
         : handler == SIG_HOLD ? "hold"
         : handler == empty    ? "empty"
                               : "other";
}

void callSigaction(Context& c) {
  const int number = c.oneOf(kNumbers, 20);
  struct sigaction action {};
  const sighandler_t handlers[] = {empty, SIG_DFL, SIG_IGN};
  action.sa_handler = c.oneOf(handlers);
  action.sa_flags = c.oneOf<int>({0, SA_RESTART, SA_ONSTACK});
  struct sigaction before {};
  const bool isQuery = c.choose(3, 60) == 1;
  c.callUnguarded("sigaction",
                  "%d, %s, %#x",
                  number,
                  isQuery ? "null" : nameOf(action.sa_handler),
                  action.sa_flags);
  const int result = sigaction(number, isQuery ? nullptr : &action, &before);
  c.result(result);
  if (result == 0)
    c.note("%s %#x", nameOf(before.sa_handler), before.sa_flags & ~0x0400'0000);
}

template <auto kFunction>
void callSignal(Context& c, const char* name) {
  const int number = c.oneOf(kNumbers, 20);
  const sighandler_t handlers[] = {empty, SIG_DFL, SIG_IGN, SIG_ERR};
  const sighandler_t handler = c.oneOf(handlers);
  c.callUnguarded(name, "%d, %s", number, nameOf(handler));
  const sighandler_t before = kFunction(number, handler);
  c.resultPointer(nameOf(before), nameOf(before));
}

void callSigignore(Context& c) {
  const int number = c.oneOf(kNumbers, 20);
  c.callUnguarded("sigignore", "%d", number);
  c.result(sigignore(number));
}

struct Set {
  sigset_t signals;
  const char* name;
  const sigset_t* at;
  bool isAll;
};

void chooseSet(Context& c, Set& out) noexcept {
  sigemptyset(&out.signals);
  sigaddset(&out.signals, SIGUSR1);
  out.isAll = c.choose(4, 70) == 1;
  if (c.choose(4, 70) == 1)
    sigaddset(&out.signals, SIGURG);
  if (out.isAll) {
    sigfillset(&out.signals);
    sigdelset(&out.signals, SIGALRM);
  }
  out.at = c.pointer(out.signals, out.name);
}

// Makes a signal pending, so that the call need not wait.
void makePending() noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  raise(SIGUSR1);
}

void callSigwait(Context& c) {
  Set set;
  chooseSet(c, set);
  makePending();
  int number = 0;
  c.call("sigwait", "%s %d", set.name, set.isAll);
  const int result = sigwait(set.at, &number);
  c.result(result);
  c.note("%d", number);
}

void callSigwaitinfo(Context& c) {
  Set set;
  chooseSet(c, set);
  const bool pending = c.choose(2) == 0;
  if (pending)
    makePending();
  c.call("sigwaitinfo", "%s %d %d", set.name, set.isAll, pending);
  c.result(sigwaitinfo(set.at, nullptr));
}

void callSigtimedwait(Context& c) {
  Set set;
  chooseSet(c, set);
  timespec time = {c.oneOf<time_t>({0, -1}, 80), c.oneOf<long>({0, 1000, -1, 1'000'000'000})};
  const char* place = nullptr;
  const timespec* const at = c.pointer(time, place);
  c.call(
      "sigtimedwait", "%s %d, %s %ld %ld", set.name, set.isAll, place, time.tv_sec, time.tv_nsec);
  c.result(sigtimedwait(set.at, nullptr, at));
}

void callSigsuspend(Context& c) {
  Set set;
  chooseSet(c, set);
  sigdelset(&set.signals, SIGALRM);
  c.call("sigsuspend", "%s %d", set.name, set.isAll);
  c.result(sigsuspend(set.at));
}

#define HOST_CALL(name, ...)    \
  void name##Call(Context& c) { \
    __VA_ARGS__;                \
  }
HOST_CALL(signal, callSignal<signal>(c, "signal"))
HOST_CALL(bsdSignal, callSignal<bsd_signal>(c, "bsd_signal"))
HOST_CALL(sysvSignal, callSignal<sysv_signal>(c, "sysv_signal"))
HOST_CALL(underSysvSignal, callSignal<__sysv_signal>(c, "__sysv_signal"))
HOST_CALL(sigset, callSignal<sigset>(c, "sigset"))

constexpr NamedCall kCalls[] = {{"sigaction", callSigaction, kAlone},
                                {"signal", signalCall, kAlone},
                                {"bsd_signal", bsdSignalCall, kAlone},
                                {"sysv_signal", sysvSignalCall, kAlone},
                                {"__sysv_signal", underSysvSignalCall, kAlone},
                                {"sigset", sigsetCall, kAlone},
                                {"sigignore", callSigignore, kAlone},
                                {"sigwait", callSigwait, kAlone},
                                {"sigwaitinfo", callSigwaitinfo, kAlone},
                                {"sigtimedwait", callSigtimedwait, kAlone},
                                {"sigsuspend", callSigsuspend, kAlone}};

}  // namespace

CallList signalCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
