#include "collector/preload/cuda/activity/cuda_flushing.h"

#include "collector/preload/common/own_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace sonde::preload::cuda {
namespace {

// The number of holds, times two, and whether a flush is under way. They share one word, so that no
// flush starts during a hold.
constexpr std::uint32_t kAsking = 1;
constexpr std::uint32_t kHold = 2;
std::atomic<std::uint32_t> gFlushing{0};
const cupti::Api* gApi = nullptr;

void flushForEver(void*) noexcept {
  constexpr timespec kPeriod{1, 0};
  for (;;) {  // Sonde's own thread; ends with the process
    nanosleep(&kPeriod, nullptr);
    std::uint32_t idle = 0;
    if (!gFlushing.compare_exchange_strong(idle, kAsking, std::memory_order_acq_rel))
      continue;
    gApi->flushAll(0);
    gFlushing.fetch_sub(kAsking, std::memory_order_acq_rel);
  }
}

}  // namespace

void beginFlushing(const cupti::Api& api) noexcept {
  const char* const asked = getenv("SONDE_CUDA_FLUSH");
  if (asked == nullptr || *asked == '\0')
    return;
  gApi = &api;
  beginThread("sonde-cuda", flushForEver, nullptr);
}

void holdFlushing() noexcept {
  constexpr int kMoments = 2000;
  constexpr timespec kMoment{0, 1'000'000};
  const int error = errno;
  gFlushing.fetch_add(kHold, std::memory_order_acq_rel);
  for (int moment = 0;
       (gFlushing.load(std::memory_order_acquire) & kAsking) != 0 && moment < kMoments;
       ++moment)
    nanosleep(&kMoment, nullptr);
  errno = error;
}

void resumeFlushing() noexcept {
  gFlushing.fetch_sub(kHold, std::memory_order_acq_rel);
}

}  // namespace sonde::preload::cuda
