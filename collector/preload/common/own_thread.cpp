#include "collector/preload/common/own_thread.h"

#include "collector/core/platform/symbol_versions.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/thread_state.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include <atomic>
#include <cstdint>

namespace sonde::preload {
namespace {

struct Begin {
  const char* name;
  void (*body)(void*) noexcept;
  void* argument;
};

void* run(void* given) {
  const Begin begin = *static_cast<Begin*>(given);
  free(given);
  core::rawSyscall(SYS_prctl, PR_SET_NAME, core::asLong(begin.name));
  core::registerSelf();  // gives the thread its name in the trace
  begin.body(begin.argument);
  return nullptr;
}

}  // namespace

// Blocks the job's signals in the thread, except glibc's own two (SIGCANCEL, SIGSETXID): setuid()
// and similar calls wait until every thread has answered SIGSETXID.
bool beginThread(const char* name, void (*body)(void*) noexcept, void* argument) noexcept {
  constexpr std::uint64_t kGlibcs = std::uint64_t{3} << 31;
  const std::uint64_t all = ~kGlibcs;
  std::uint64_t before = 0;
  auto* const begin = static_cast<Begin*>(malloc(sizeof(Begin)));
  if (begin == nullptr)
    return false;
  *begin = {name, body, argument};
  pthread_attr_t detached;
  pthread_t thread{};
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  core::rawSyscall(
      SYS_rt_sigprocmask, SIG_SETMASK, core::asLong(&all), core::asLong(&before), sizeof all);
  const bool isBegun = pthread_create(&thread, &detached, run, begin) == 0;
  core::rawSyscall(SYS_rt_sigprocmask, SIG_SETMASK, core::asLong(&before), 0, sizeof before);
  pthread_attr_destroy(&detached);
  if (!isBegun)
    free(begin);
  return isBegun;
}

}  // namespace sonde::preload
