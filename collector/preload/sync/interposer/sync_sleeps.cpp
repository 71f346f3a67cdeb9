// Sleeping, and waiting for signals.

#include "collector/core/platform/hooks.h"
#include "collector/preload/sync/interposer/pausing.h"

#include <signal.h>
#include <threads.h>
#include <unistd.h>

namespace sonde::preload::sync {
namespace {

using core::Real;

using Nanosleep = int (*)(const timespec*, timespec*);
using ClockNanosleep = int (*)(clockid_t, int, const timespec*, timespec*);
using Usleep = int (*)(useconds_t);
using Sleep = unsigned (*)(unsigned);
using Pause = int (*)();
using Suspend = int (*)(const sigset_t*);
using WaitSignal = int (*)(const sigset_t*, int*);
using WaitInfo = int (*)(const sigset_t*, siginfo_t*);
using WaitTimed = int (*)(const sigset_t*, siginfo_t*, const timespec*);

constinit Real<Nanosleep> gNanosleep{"nanosleep"};
constinit Real<ClockNanosleep> gClockNanosleep{"clock_nanosleep"};
constinit Real<Nanosleep> gThreadSleep{"thrd_sleep"};
constinit Real<Usleep> gUsleep{"usleep"};
constinit Real<Sleep> gSleep{"sleep"};
constinit Real<Pause> gPause{"pause"};
constinit Real<Suspend> gSuspend{"sigsuspend"};
constinit Real<WaitSignal> gWaitSignal{"sigwait"};
constinit Real<WaitInfo> gWaitInfo{"sigwaitinfo"};
constinit Real<WaitTimed> gWaitTimed{"sigtimedwait"};

__attribute__((constructor(102))) void resolve() {
  gNanosleep();
  gClockNanosleep();
  gThreadSleep();
  gUsleep();
  gSleep();
  gPause();
  gSuspend();
  gWaitSignal();
  gWaitInfo();
  gWaitTimed();
}

}  // namespace
}  // namespace sonde::preload::sync

using namespace sonde::preload::sync;

SONDE_EXPORT int nanosleep(const timespec* duration, timespec* left) {
  return pausing("nanosleep", [=] { return gNanosleep()(duration, left); });
}

SONDE_EXPORT int clock_nanosleep(clockid_t clock,
                                 int flags,
                                 const timespec* until,
                                 timespec* left) {
  return pausing("clock_nanosleep", [=] { return gClockNanosleep()(clock, flags, until, left); });
}

SONDE_EXPORT int thrd_sleep(const timespec* duration, timespec* left) {
  return pausing("thrd_sleep", [=] { return gThreadSleep()(duration, left); });
}

SONDE_EXPORT int usleep(useconds_t duration) {
  return pausing("usleep", [=] { return gUsleep()(duration); });
}

SONDE_EXPORT unsigned sleep(unsigned seconds) {
  return pausing("sleep", [=] { return gSleep()(seconds); });
}

SONDE_EXPORT int pause() {
  return pausing("pause", [] { return gPause()(); });
}

SONDE_EXPORT int sigsuspend(const sigset_t* mask) {
  return pausing("sigsuspend", [=] { return gSuspend()(mask); });
}

SONDE_EXPORT int sigwait(const sigset_t* signals, int* signal) {
  return pausing("sigwait", [=] { return gWaitSignal()(signals, signal); });
}

SONDE_EXPORT int sigwaitinfo(const sigset_t* signals, siginfo_t* info) {
  return pausing("sigwaitinfo", [=] { return gWaitInfo()(signals, info); });
}

SONDE_EXPORT int sigtimedwait(const sigset_t* signals, siginfo_t* info, const timespec* timeout) {
  return pausing("sigtimedwait", [=] { return gWaitTimed()(signals, info, timeout); });
}
