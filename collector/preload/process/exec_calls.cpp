// The exec family. libc's own members do not call an interposed execve, so each is wrapped. Each
// wrapper ends in the libc function that takes an environment.

#include "collector/core/attach.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/may_read.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/thread_state.h"
#include "collector/core/vfork.h"
#include "collector/preload/cuda/cuda_capture.h"
#include "collector/preload/process/exec_plan.h"
#include "collector/preload/stack/stack_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

namespace sonde::preload {
namespace {

using core::Real;

using ExecveCall = int (*)(const char*, char* const*, char* const*);
using FexecveCall = int (*)(int, char* const*, char* const*);
using ExecveatCall = int (*)(int, const char*, char* const*, char* const*, int);

constinit Real<ExecveCall> gExecve{"execve"};
constinit Real<ExecveCall> gExecvpe{"execvpe"};
constinit Real<FexecveCall> gFexecve{"fexecve"};
constinit Real<ExecveatCall> gExecveat{"execveat"};

__attribute__((constructor(102))) void resolve() {
  gExecve();
  gExecvpe();
  gFexecve();
  gExecveat();
}

constexpr ExecTarget kUnknownTarget = {};

// An exec that returns has failed, and the process continues.
template <typename Call>
int attempt(Call call) {
  const bool isEnd = !core::inVforkChild() && cuda::finish();
  if (!core::inVforkChild())
    noteCodeAtEnd();
  core::noteExec(true);
  const int result = call();
  core::noteExec(false);
  if (isEnd)
    cuda::resume();
  return result;
}

int runPath(const char* path, char* const* arguments, char* const* environment) {
  if (!carriesTo(path, environment))
    return gExecve()(path, arguments, environment);
  const ExecTarget target = planFor(AT_FDCWD, path, environment);
  recordExec(path, target);
  return attempt([&] {
    return withEnvironment(
        environment, target, [&](char** merged) { return gExecve()(path, arguments, merged); });
  });
}

ExecTarget planInPath(const char* file, char* const* environment) noexcept {
  return withScratch(kMaxPath, [&](void* room) {
    auto* found = static_cast<char*>(room);
    const bool plain = strchr(file, '/') != nullptr;
    if (!plain && (found == nullptr || !core::findInPath(file, found, kMaxPath)))
      return kUnknownTarget;
    const ExecTarget target = planFor(AT_FDCWD, plain ? file : found, environment);
    recordExec(plain ? file : found, target);
    return target;
  });
}

int runInPath(const char* file, char* const* arguments, char* const* environment) {
  if (!carriesTo(file, environment))
    return gExecvpe()(file, arguments, environment);
  const ExecTarget target = planInPath(file, environment);
  return attempt([&] {
    return withEnvironment(
        environment, target, [&](char** merged) { return gExecvpe()(file, arguments, merged); });
  });
}

int runDescriptor(int fd, char* const* arguments, char* const* environment) {
  const ExecTarget target = planFor(fd, "", environment);
  recordExec("(a descriptor)", target);
  return attempt([&] {
    return withEnvironment(
        environment, target, [&](char** merged) { return gFexecve()(fd, arguments, merged); });
  });
}

int realExecveat(
    int folder, const char* path, char* const* arguments, char* const* environment, int flags) {
  if (gExecveat() != nullptr)
    return gExecveat()(folder, path, arguments, environment, flags);
  const long result = core::rawSyscall(SYS_execveat,
                                       folder,
                                       core::asLong(path),
                                       core::asLong(arguments),
                                       core::asLong(environment),
                                       flags);
  errno = static_cast<int>(-result);
  return -1;
}

// Returns the number of arguments before the null pointer, including `first`.
int countArguments(const char* first, va_list rest) noexcept {
  int count = 0;
  for (const char* word = first; word != nullptr; word = va_arg(rest, const char*))
    ++count;
  return count;
}

// Copies the arguments and the null pointer; `rest` is then after it.
void copyArguments(const char** out, int count, const char* first, va_list& rest) noexcept {
  out[0] = first;
  for (int at = 1; at <= count; ++at)
    out[at] = va_arg(rest, const char*);
}

}  // namespace

bool carriesTo(const char* path, char* const* environment) noexcept {
  return carriesEnvironment() && !core::isStoppedForGood() && path != nullptr &&
         core::mayReadText(path) && core::mayReadTexts(environment);
}

ExecTarget planFor(int folder, const char* path, char* const* environment) noexcept {
  ExecTarget target = core::inspectTarget(folder, path, environment);
  const char* library = preloadedLibrary();
  if (target.found && target.reason == nullptr && library[0] == '/' &&
      core::rawSyscall(SYS_faccessat, AT_FDCWD, core::asLong(library), R_OK) != 0) {
    target.reason = "the library is not visible to it";
    target.mustStrip = true;
  } else if (target.found && target.reason == nullptr &&
             !core::mayReach(sessionFolder(environment))) {
    target.reason = "no access to the spool";
  }
  return target;
}

std::size_t environmentStackBytes() noexcept {
  constexpr std::size_t kOnAnyStack = 1024;
  constexpr std::size_t kOnThreadStack = 16384;
  stack_t alternate{};
  const bool own = core::rawSyscall(SYS_sigaltstack, 0, core::asLong(&alternate)) == 0 &&
                   (alternate.ss_flags & SS_ONSTACK) == 0;
  return own && core::inVforkChild() ? kOnThreadStack : kOnAnyStack;
}

void recordExec(const char* path, const ExecTarget& target) noexcept {
  if (!target.found || !core::enabled(wire::Probe::Process))
    return;
  const bool silent = core::gForkPage->generation.load(std::memory_order_relaxed) == 0;
  if (silent && target.reason == nullptr)
    return;
  core::emitExec(core::intern(path), target.reason == nullptr ? 0 : core::intern(target.reason));
}

}  // namespace sonde::preload

using namespace sonde::preload;

// Copies the arguments of a variadic call to the array `words` on the stack, as libc does; `rest`
// is then after them.
#define SONDE_GATHER_WORDS(first)                                                                 \
  va_list rest;                                                                                   \
  va_start(rest, first);                                                                          \
  const int wordCount = countArguments(first, rest);                                              \
  va_end(rest);                                                                                   \
  auto** words =                                                                                  \
      static_cast<const char**>(alloca(static_cast<std::size_t>(wordCount + 1) * sizeof(char*))); \
  va_start(rest, first);                                                                          \
  copyArguments(words, wordCount, first, rest)

SONDE_EXPORT int execve(const char* path, char* const* arguments, char* const* environment) {
  return runPath(path, arguments, environment);
}

SONDE_EXPORT int execv(const char* path, char* const* arguments) {
  return runPath(path, arguments, environ);
}

SONDE_EXPORT int execvp(const char* file, char* const* arguments) {
  return runInPath(file, arguments, environ);
}

SONDE_EXPORT int execvpe(const char* file, char* const* arguments, char* const* environment) {
  return runInPath(file, arguments, environment);
}

SONDE_EXPORT int execl(const char* path, const char* first, ...) {
  SONDE_GATHER_WORDS(first);
  va_end(rest);
  return runPath(path, const_cast<char* const*>(words), environ);
}

SONDE_EXPORT int execle(const char* path, const char* first, ...) {
  SONDE_GATHER_WORDS(first);
  char* const* environment = va_arg(rest, char* const*);
  va_end(rest);
  return runPath(path, const_cast<char* const*>(words), environment);
}

SONDE_EXPORT int execlp(const char* file, const char* first, ...) {
  SONDE_GATHER_WORDS(first);
  va_end(rest);
  return runInPath(file, const_cast<char* const*>(words), environ);
}

SONDE_EXPORT int fexecve(int fd, char* const* arguments, char* const* environment) {
  // libc reports a null environment as invalid.
  return environment != nullptr && carriesTo("", environment)
             ? runDescriptor(fd, arguments, environment)
             : gFexecve()(fd, arguments, environment);
}

SONDE_EXPORT int execveat(
    int folder, const char* path, char* const* arguments, char* const* environment, int flags) {
  if (!carriesTo(path, environment))
    return realExecveat(folder, path, arguments, environment, flags);
  const ExecTarget target = planFor(folder, path, environment);
  recordExec(path, target);
  return attempt([&] {
    return withEnvironment(environment, target, [&](char** merged) {
      return realExecveat(folder, path, arguments, merged, flags);
    });
  });
}
