// Creating processes, ending them and waiting for them.
#include "tests/host/calls.h"
#include "tests/host/children.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace host {
namespace {

void callWait(Context& c) {
  int status = 0;
  const char* place = nullptr;
  int* const at = c.pointer(status, place, true);
  c.call("wait", "%s", place);
  c.result(wait(at));
}

pid_t choosePid(Context& c) noexcept {
  // Pids of no process, or impossible ones; 0 and -1 mean any child.
  return c.oneOf<pid_t>({-1, 0, 0x3fff'ffff, INT32_MIN, -0x3fff'ffff});
}

constexpr int kOptions[] = {0, WNOHANG, WUNTRACED, -1, 0x100};

void callWaitpid(Context& c) {
  const pid_t pid = choosePid(c);
  const int options = c.oneOf(kOptions);
  int status = 0;
  const char* place = nullptr;
  int* const at = c.pointer(status, place, true);
  c.call("waitpid", "%d, %s, %#x", pid, place, options);
  c.result(waitpid(pid, at, options));
}

void callWaitid(Context& c) {
  const int type = c.oneOf<int>({P_ALL, P_PID, P_PGID, 99, -1});
  const id_t id = c.oneOf<id_t>({0x3fff'ffff, 0, static_cast<id_t>(-1)});
  const int options = c.oneOf<int>({WEXITED, WEXITED | WNOHANG, 0, -1, WNOHANG});
  siginfo_t info{};
  const char* place = nullptr;
  siginfo_t* const at = c.pointer(info, place, true);
  c.call("waitid", "%d, %u, %s, %#x", type, id, place, options);
  c.result(waitid(static_cast<idtype_t>(type), id, at, options));
}

void callWait3(Context& c) {
  const int options = c.oneOf(kOptions);
  rusage usage{};
  const char* place = nullptr;
  rusage* const at = c.choose(2) == 0 ? nullptr : c.pointer(usage, place, true);
  c.call("wait3", "%#x, %s", options, place == nullptr ? "null" : place);
  c.result(wait3(nullptr, options, at));
}

void callWait4(Context& c) {
  const pid_t pid = choosePid(c);
  const int options = c.oneOf(kOptions);
  int status = 0;
  const char* place = nullptr;
  int* const at = c.pointer(status, place, true);
  c.call("wait4", "%d, %s, %#x", pid, place, options);
  c.result(wait4(pid, at, options, nullptr));
}

void callPrctl(Context& c) {
  constexpr int kPrctls[] = {PR_GET_DUMPABLE,
                             PR_SET_NAME,
                             PR_GET_NAME,
                             PR_SET_DUMPABLE,
                             PR_GET_SECCOMP,
                             PR_SET_SECCOMP,
                             -1,
                             PR_SET_PDEATHSIG,
                             PR_GET_PDEATHSIG,
                             PR_SET_NO_NEW_PRIVS,
                             PR_SET_TIMERSLACK};
  const int option = c.oneOf(kPrctls, 20);
  char name[16] = "fuzzed";
  const bool takesText = option == PR_SET_NAME || option == PR_GET_NAME;
  const bool takesNumber = option == PR_GET_PDEATHSIG;
  const char* place = "number";
  char* const at = takesText ? c.pointer(name[0], place, true) : nullptr;
  int number = 0;
  const unsigned long second = takesText     ? reinterpret_cast<unsigned long>(at)
                               : takesNumber ? reinterpret_cast<unsigned long>(&number)
                                             : c.oneOf<unsigned long>({1, 0, 99, ~0UL}, 40);
  // The strict mode has a separate row; here it would end the process.
  if (option == PR_SET_SECCOMP && second == SECCOMP_MODE_STRICT)
    return;
  c.call("prctl", "%d, %s", option, place);
  c.result(prctl(option, second, c.choose(2) == 0 ? 0UL : 7UL, 0UL, 0UL));
}

// Killed at its first call other than read, write and exit: Sonde makes others, and must stop doing
// so.
void callSeccomp(Context& c) {
  c.callUnguarded("prctl", "%s", "strict");
  const int result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  c.result(result);
  c.callUnguarded("close", "%s", "killed");
  (void)close(-1);
}

void callFork(Context& c) {
  forkedChild(c);
}

void callVfork(Context& c) {
  vforkedChild(c);
}

template <auto kFunction>
void callEnd(Context& c) {
  const int status = c.oneOf<int>({3, 0, -1, 256, 0x7fff'ffff});
  c.callUnguarded("end", "%d", status);
  kFunction(status);
}

constexpr NamedCall kCalls[] = {{"wait", callWait, kAlone},
                                {"waitpid", callWaitpid, kAlone},
                                {"waitid", callWaitid, kAlone},
                                {"wait3", callWait3, kAlone},
                                {"wait4", callWait4, kAlone},
                                {"prctl", callPrctl, kAlone},
                                {"prctl", callSeccomp, kTableOnly},
                                {"fork", callFork, kTableOnly},
                                {"_Fork", callFork, kTableOnly},
                                {"vfork", callVfork, kTableOnly},
                                {"_exit", callEnd<_exit>, kTableOnly},
                                {"_Exit", callEnd<_Exit>, kTableOnly}};

}  // namespace

CallList childCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
