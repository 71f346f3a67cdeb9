// The `process` probe at fork: the parent records its child. vfork is not wrapped. The core and the
// descriptor table notice a child of raw clone when it first records.

#include "collector/core/attach.h"
#include "collector/core/emit.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/thread_state.h"
#include "collector/core/vfork.h"
#include "collector/preload/descriptors/fd_table.h"
#include "collector/preload/stack/stack_probe.h"

#include <errno.h>
#include <signal.h>
#include <sys/types.h>

namespace sonde::preload {
namespace {

using ForkCall = pid_t (*)();

constinit core::Real<ForkCall> gFork{"fork"};
constinit core::Real<ForkCall> gBareFork{"_Fork"};

__attribute__((constructor(102))) void resolve() {
  gFork();
  gBareFork();
}

pid_t forkWith(ForkCall real) {
  const auto holder = core::inVforkChild() ? fd_endpoints::kNobody : fd_table::beforeFork();
  const pid_t child = real();
  if (child == 0) {
    core::keepApartFromParent();
    core::forgetOwnState();
  }
  fd_table::afterFork(holder, child);
  if (child == 0)
    childHasBegun();
  if (child > 0 && core::enabled(wire::Probe::Process))
    core::emitFork(child);
  return child;
}

// For a libc before 2.34: a program that looks for _Fork finds this function there too.
pid_t cloneLikeFork() {
  const long child = core::rawSyscall(SYS_clone, SIGCHLD);
  if (child >= 0)
    return static_cast<pid_t>(child);
  errno = static_cast<int>(-child);
  return -1;
}

}  // namespace
}  // namespace sonde::preload

SONDE_EXPORT pid_t fork() {
  return sonde::preload::forkWith(sonde::preload::gFork());
}

SONDE_EXPORT pid_t _Fork() {
  using namespace sonde::preload;
  return forkWith(gBareFork() != nullptr ? gBareFork() : cloneLikeFork);
}
