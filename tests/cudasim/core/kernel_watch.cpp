#include "tests/cudasim/core/kernel_watch.h"

#include "tests/cudasim/core/world.h"

#include <cupti.h>

#include <algorithm>
#include <atomic>

namespace cudasim {
namespace {

std::atomic<bool> gEver{false};

// Guarded by the world's lock.
std::vector<KernelWatch*>& watches() {
  static auto* instance = new std::vector<KernelWatch*>;  // used until the process has ended
  return *instance;
}

}  // namespace

KernelWatch::KernelWatch(uint32_t device) : device_(device) {
  gEver = true;
  const std::lock_guard lock(world().mutex);
  for (const auto& context : world().contexts) {
    for (const auto& stream : context->streams) {
      addUnfinished(*stream);
    }
  }
  watches().push_back(this);
}

KernelWatch::~KernelWatch() {
  const std::lock_guard lock(world().mutex);
  std::erase(watches(), this);
}

void KernelWatch::addUnfinished(const CUstream_st& stream) {
  for (const Activity& activity : stream.unfinished) {
    add(activity);
  }
}

void KernelWatch::add(const Activity& kernel) {
  if (kernel.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && kernel.device == device_) {
    kernels_.push_back({kernel.start, countersOf(kernel.grid, kernel.block, kernel.ranNs)});
  }
}

Counters KernelWatch::takeUntil(uint64_t ns) {
  const std::lock_guard lock(world().mutex);
  Counters sum;
  std::erase_if(kernels_, [&](const Kernel& kernel) {
    if (kernel.startNs >= ns) {
      return false;
    }
    sum += kernel.counters;
    return true;
  });
  return sum;
}

void tellWatches(const Activity& activity) {
  for (KernelWatch* watch : watches()) {
    watch->add(activity);
  }
}

bool everWatched() {
  return gEver;
}

}  // namespace cudasim
