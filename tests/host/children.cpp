#include "tests/host/children.h"

#include "tests/host/calls.h"
#include "tests/host/raw.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>

extern "C" pid_t _Fork() noexcept;

namespace host {
namespace {

pid_t waitSomehow(Context& c, pid_t child, int& status) noexcept {
  rusage usage{};
  siginfo_t info{};
  int how = c.choose(5, 30);
  if (c.isConcurrent() && (how == 1 || how == 2))
    how = 0;  // these wait for any child, even another thread's
  switch (how) {
    case 1:
      return wait(&status);
    case 2:
      return wait3(&status, 0, &usage);
    case 3:
      return wait4(child, &status, 0, &usage);
    case 4:
      if (waitid(child > 0 ? P_PID : P_ALL, static_cast<id_t>(child), &info, WEXITED) != 0)
        return -1;
      status = info.si_code << 8 | info.si_status;
      return info.si_pid;
    default:
      return waitpid(child, &status, 0);
  }
}

}  // namespace

void awaitChild(Context& c, pid_t child) noexcept {
  int status = 0;
  c.callUnguarded("await", "%s", child > 0 ? "child" : "any");
  const pid_t ended = waitSomehow(c, child, status);
  c.result(ended > 0);
  c.note("%#x", status);
}

void leave(Context& c) noexcept {
  const int how = c.choose(4, 40);
  c.callUnguarded("leave", "%d", how);
  switch (how) {
    case 1:
      _Exit(4);
    case 2:
      exit(5);
    case 3:
      raw(SYS_kill, raw(SYS_getpid), SIGKILL);
      [[fallthrough]];
    default:
      _exit(3);
  }
}

void makeCalls(Context& c, int count, bool isVfork) noexcept {
  for (int at = 0; at < count; ++at) {
    const NamedCall& call = callAt(c.below(callCount()));
    const unsigned forbidden = kTableOnly | (c.isConcurrent() ? kAlone : 0U);
    if ((call.traits & forbidden) == 0 && (!isVfork || (call.traits & kInVfork) != 0))
      call.run(c);
  }
}

namespace {

// One of the exec family, which may fail; or nothing.
void execOrLeave(Context& c) noexcept {
  if (c.choose(2, 50) == 1) {
    const CallList execs = execCalls();
    for (int tries = 0; tries < 3; ++tries) {
      const NamedCall& call = execs.calls[c.below(execs.count)];
      if ((call.traits & kTableOnly) != 0)
        call.run(c);
    }
  }
}

}  // namespace

void forkedChild(Context& c) noexcept {
  // A child of _Fork() may have inherited malloc's locks from a thread that it does not have.
  const bool isBare = c.choose(3, 70) == 1 && !c.isConcurrent();
  const int area = c.isConcurrent() ? c.spareArea : takeArea(*c.log);
  c.callUnguarded(isBare ? "_Fork" : "fork", "area %d", area);
  const pid_t child = isBare ? _Fork() : fork();
  if (child == 0) {
    c.area = &c.log->areas[area];
    ++c.depth;
    c.startGuard();
    forgetLocks();
    if (c.isConcurrent()) {
      makeCalls(c, 5, false);
      _exit(7);
    }
    if (c.isGiven())
      c.seed(7);
    runSequence(c, 6);
    execOrLeave(c);
    logFinalState(c);
    leave(c);
  }
  c.result(child > 0);
  if (child > 0)
    awaitChild(c, c.isConcurrent() ? child : c.choose(3, 70) == 1 ? -1 : child);
}

void vforkedChild(Context& c) noexcept {
  Area* const area = c.area;
  const int guard = c.guard();
  const int number = takeArea(*c.log);
  c.callUnguarded("vfork", "area %d", number);
  const pid_t child = vfork();
  if (child == 0) {
    c.area = &c.log->areas[number];
    c.startGuard();
    makeCalls(c, 6, true);
    execOrLeave(c);
    c.callUnguarded("_exit", "%d", 6);
    _exit(6);
  }
  c.area = area;
  c.setGuard(guard);  // what it was before the child, which shares it
  c.result(child > 0);
  if (child > 0)
    awaitChild(c, child);
}

}  // namespace host
