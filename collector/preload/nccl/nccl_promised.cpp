#include "collector/preload/nccl/nccl_promised.h"

#include <atomic>

namespace sonde::preload::nccl {
namespace {

using core::ThreadState;

struct Promised {
  std::atomic<const ThreadState*> thread;  // nullptr: free
  NewCommunicator made;
};
constinit Promised gPromised[64]{};
constinit std::atomic<bool> gAny{false};  // whether one was ever promised in this process

}  // namespace

void promise(const ThreadState* thread, const NewCommunicator& made) noexcept {
  gAny.store(true, std::memory_order_relaxed);
  for (Promised& each : gPromised) {
    const ThreadState* free = nullptr;
    if (!each.thread.compare_exchange_strong(free, thread, std::memory_order_acq_rel))
      continue;
    each.made = made;
    return;
  }
}

bool takePromised(const ThreadState* thread, NewCommunicator& made) noexcept {
  if (!gAny.load(std::memory_order_relaxed))
    return false;
  for (Promised& each : gPromised) {
    if (each.thread.load(std::memory_order_acquire) != thread)
      continue;
    made = each.made;
    each.thread.store(nullptr, std::memory_order_release);
    return true;
  }
  return false;
}

void forgetPromised(const ThreadState* thread) noexcept {
  NewCommunicator made;
  // Ends: only the thread itself promises, and it does not do so here.
  while (takePromised(thread, made)) {
  }
}

}  // namespace sonde::preload::nccl
