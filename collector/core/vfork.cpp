#include "collector/core/vfork.h"

#include "collector/core/emit.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"

#include <atomic>

namespace sonde::core {
namespace {

std::atomic<std::uint32_t> gVforks{1};  // since the program's start, by all threads

}  // namespace

bool inVforkChild() noexcept {
  return gSpool.header != nullptr && rawSyscall(SYS_getpid) != gSpool.header->pid &&
         gForkPage->generation.load(std::memory_order_relaxed) != 0;
}

bool inNotedVforkChild() noexcept {
  const std::uint32_t vforks = gVforks.load(std::memory_order_relaxed);
  ThreadState* state = tState;
  if (!isCurrent(state))
    return inVforkChild();
  if (__builtin_expect(state->vforksSeen != vforks, 0)) {
    if (inVforkChild())
      return true;
    state->vforksSeen = vforks;
  }
  return false;
}

void noteVfork() noexcept {
  gVforks.fetch_add(1, std::memory_order_relaxed);
  // The child's exec is recorded as this thread's. If the child registered the thread, it would do
  // so under its own id. A process without a spool does not need one for that.
  if (gForkPage->generation.load(std::memory_order_relaxed) != 0 && enabled(wire::Probe::Process))
    registerSelf();
}

}  // namespace sonde::core
