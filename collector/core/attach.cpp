#include "collector/core/attach.h"

#include "collector/core/capture.h"
#include "collector/core/definitions.h"
#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/plugins.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"
#include "collector/core/vfork.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace sonde::core {
namespace {

char gFolder[sizeof Spool::path];
std::atomic<std::uint32_t> gGeneration{0};  // of the last attached image in this line of forks
constinit wire::ControlPage gSilent{};

// Adds the losses that could not be counted before there was a spool.
void countMissed() noexcept {
  for (int probe = 0; probe < static_cast<int>(wire::Probe::Count); ++probe) {
    for (int kind = 0; kind < static_cast<int>(wire::RecordKind::Count); ++kind) {
      for (int reason = 0; reason < static_cast<int>(wire::LossReason::Count); ++reason)
        gSpool.loss->count[probe][kind][reason].fetch_add(
            gForkPage->missed.count[probe][kind][reason].load(std::memory_order_relaxed),
            std::memory_order_relaxed);
    }
  }
}

// Requires: gFolder, the session page, a chosen clock.
bool open(bool forked) noexcept {
  if (!createSpool(gSpool, gFolder, forked)) {
    gSpool.control = &gSilent;
    const bool unreachable = gSpool.unreachable.load(std::memory_order_relaxed);
    wire::SessionPage& session = *gSpool.session;
    (unreachable ? session.unreachableImages : session.refusedImages)
        .fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const std::uint32_t lostTexts = adoptStrings(gSpool);
  adoptPlugins(gSpool);
  // Last, because from here on other threads and signal handlers write.
  gForkPage->generation.store(gGeneration.fetch_add(1, std::memory_order_relaxed) + 1,
                              std::memory_order_release);
  countLoss(wire::Probe::Process, wire::RecordKind::Name, wire::LossReason::Names, lostTexts);
  countMissed();
  recordClocks();
  return true;
}

__attribute__((constructor(101))) void attachAtLoad() noexcept {
  if (const char* folder = getenv("SONDE_SESSION"); folder != nullptr)
    attach(folder, getenv("SONDE_TEST_CLOCK"));
}

__attribute__((destructor)) void detach() noexcept {
  if (gForkPage->generation.load(std::memory_order_relaxed) == 0)
    return;
  recordClocks();
  std::uint32_t running = 0;
  gSpool.header->finished.compare_exchange_strong(
      running, wire::kFinished, std::memory_order_release, std::memory_order_relaxed);
}

// The header may be a parent's: in a vfork child, and in a forked child that has recorded nothing.
bool hasOwnHeader() noexcept {
  return gForkPage->generation.load(std::memory_order_relaxed) != 0 && !inVforkChild();
}

}  // namespace

bool attach(const char* folder, const char* testClock) noexcept {
  if (strlen(folder) >= sizeof gFolder)
    return false;
  strcpy(gFolder, folder);
  gSpool.session = mapSession(gFolder);
  if (gSpool.session == nullptr || gSpool.session->recording.load(std::memory_order_relaxed) == 0)
    return false;
  chooseClock(testClock);
  if (!prepareThreads() || !prepareStrings() || !open(false))
    return false;
  nameTheLost();
  prepareCapture();
  return true;
}

void noteExec(bool isAbout) noexcept {
  if (hasOwnHeader())
    gSpool.header->leaving.store(isAbout ? 1 : 0, std::memory_order_release);
}

void noteExit(int status) noexcept {
  if (!hasOwnHeader())
    return;
  const auto byte = static_cast<std::uint32_t>(status) & 0xff;
  gSpool.header->finished.store(wire::kFinishedWithStatus + byte, std::memory_order_release);
}

void stopForGood() noexcept {
  gGeneration.store(0, std::memory_order_relaxed);
  gForkPage->generation.store(0, std::memory_order_relaxed);
  gSpool.control = &gSilent;
  stopClock();
}

bool isStoppedForGood() noexcept {
  return gGeneration.load(std::memory_order_relaxed) == 0;
}

void keepApartFromParent() noexcept {
  if (gForkPage->generation.load(std::memory_order_relaxed) != 0 || gSpool.base == nullptr ||
      !insideWrite() || gForkPage->apart.exchange(1, std::memory_order_relaxed) != 0)
    return;
  if (!makePrivate(gSpool))
    gForkPage->attaching.store(1, std::memory_order_relaxed);  // permanently: its strings are gone
}

bool attachChild() noexcept {
  if (gGeneration.load(std::memory_order_relaxed) == 0)
    return false;
  // A child of raw clone enters here without a previous call.
  keepApartFromParent();
  if (insideWrite())
    return false;
  std::uint32_t free = 0;
  // Also refuses a second thread of the child, or a signal handler, while the first attaches.
  if (!gForkPage->attaching.compare_exchange_strong(free, 1, std::memory_order_acquire))
    return false;
  gSpool.control = &gSilent;
  forgetThreads();
  forgetCapture();
  return gSpool.session->recording.load(std::memory_order_relaxed) != 0 && open(true);
}

}  // namespace sonde::core
