// The life of the library in a process: attached by the constructor when the recorder's environment
// is there, again in each forked child at its first emit, and signed off by the destructor.

#include "collector/core/clock.h"
#include "collector/core/definitions.h"
#include "collector/core/emit.h"
#include "collector/core/spool.h"
#include "collector/core/syscalls.h"
#include "collector/core/thread_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace sonde::core {
namespace {

char gFolder[sizeof Spool::path];
std::atomic<std::uint32_t> gGeneration{0};  // of the last attached image in this line of forks
wire::ControlPage gSilent;

// Requires: gFolder, the session page, a chosen clock.
bool open(bool forked) noexcept {
  const char* parentBase = gSpool.base;
  const std::size_t parentBytes = gSpool.mappedBytes;
  if (!createSpool(gSpool, gFolder, forked)) {
    gSpool.control = &gSilent;
    return false;
  }
  if (forked) {
    inheritStrings(gSpool, parentBase);
    rawSyscall(SYS_munmap, asLong(parentBase), static_cast<long>(parentBytes));
  }
  // Last: from here on other threads and signal handlers write.
  gForkPage->generation.store(gGeneration.fetch_add(1, std::memory_order_relaxed) + 1,
                              std::memory_order_release);
  recordClocks();
  return true;
}

__attribute__((constructor(101))) void attach() noexcept {
  const char* folder = getenv("SONDE_SESSION");
  if (folder == nullptr || strlen(folder) >= sizeof gFolder)
    return;
  strcpy(gFolder, folder);
  gSpool.session = mapSession(gFolder);
  if (gSpool.session == nullptr || gSpool.session->recording.load(std::memory_order_relaxed) == 0)
    return;
  chooseClock(getenv("SONDE_TEST_CLOCK"));
  if (prepareThreads() && prepareStrings())
    open(false);
}

__attribute__((destructor)) void detach() noexcept {
  if (gForkPage->generation.load(std::memory_order_relaxed) == 0)
    return;
  recordClocks();
  gSpool.header->finished.store(1, std::memory_order_release);
}

}  // namespace

bool attachChild() noexcept {
  if (gGeneration.load(std::memory_order_relaxed) == 0)
    return false;
  std::uint32_t free = 0;
  // Also refuses a second thread of the child, or a signal handler, while the first attaches.
  if (!gForkPage->attaching.compare_exchange_strong(free, 1, std::memory_order_acquire))
    return false;
  gSpool.control = &gSilent;
  forgetThreads();
  return gSpool.session->recording.load(std::memory_order_relaxed) != 0 && open(true);
}

}  // namespace sonde::core
