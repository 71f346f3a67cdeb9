#include "collector/preload/memory/interposer/tracking.h"

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/platform/symbols.h"
#include "collector/preload/memory/memory_hooks.h"

#include <dlfcn.h>

#include <atomic>

namespace sonde::preload::memory {

constinit std::size_t gThreshold = SIZE_MAX;

namespace {

constinit std::atomic<const Hooks*> gHooks{nullptr};

// The stack position at which the calling thread is recording; 0: it is not. Allocations that
// recording itself makes, on a new thread, are not the program's. A longjmp out of a signal handler
// may leave an old position; it is ignored once the thread records further up its stack.
constinit __thread std::uint64_t tRecordsAt __attribute__((tls_model("initial-exec"))) = 0;

class Recording {
 public:
  // `frame`: the caller's own.
  explicit Recording(const void* frame) noexcept
      : inner_(tRecordsAt != 0 && idOf(frame) < tRecordsAt) {
    if (!inner_)
      tRecordsAt = idOf(frame);
  }
  ~Recording() noexcept {
    if (!inner_)
      tRecordsAt = 0;
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  bool isInner() const noexcept { return inner_; }

 private:
  bool inner_;
};

void record(const Hooks& hooks, const Taken& taken, std::uint64_t ticks) noexcept {
  wire::Release release{};
  release.ticks = ticks;
  release.address = taken.address;
  release.sinceTicks = taken.since;
  hooks.released(release);
}

// Whether the program has a malloc of its own, which hides this library's.
bool isOverlooked() noexcept {
  Dl_info own{};
  Dl_info first{};
  void* const found = core::libcDlsym()(RTLD_DEFAULT, "malloc");
  return found != nullptr && dladdr(&gThreshold, &own) != 0 && dladdr(found, &first) != 0 &&
         own.dli_fbase != first.dli_fbase;
}

}  // namespace

std::uint64_t trackingTicks() noexcept {
  const Hooks* const hooks = gHooks.load(std::memory_order_acquire);
  return hooks != nullptr && hooks->records() ? hooks->ticks() : 0;
}

void noteGiven(const void* block,
               std::size_t bytes,
               std::uint64_t begin,
               wire::Allocator allocator) noexcept {
  if (block == nullptr || begin == 0)
    return;
  const Recording recording(__builtin_frame_address(0));
  if (recording.isInner())
    return;
  const Hooks& hooks = *gHooks.load(std::memory_order_relaxed);
  const std::uint64_t now = hooks.ticks();
  const std::uint64_t address = idOf(block);
  const std::uint64_t before = mayBeLive(address) ? findLive(address) : 0;
  if (before >= begin)
    return;
  // The address is allocated again, so it was freed without Sonde seeing it.
  if (before != 0 && takeLive(address) != 0)
    record(hooks, {address, before, 0}, begin);
  if (!putLive(address, now)) {
    hooks.lose();
    return;
  }
  wire::Allocation allocation{};
  allocation.header.detail = static_cast<std::uint8_t>(allocator);
  allocation.ticks = now;
  allocation.address = address;
  allocation.bytes = bytes;
  if (!hooks.allocated(allocation))
    takeLive(address);
}

Taken takeBlock(const void* block) noexcept {
  const Hooks* const hooks = gHooks.load(std::memory_order_acquire);
  const std::uint64_t address = idOf(block);
  if (hooks == nullptr || !mayBeLive(address))
    return {address, 0, 0};
  // Small blocks on the same page as a recorded one also get here. For blocks that are not recorded
  // the clock is not read.
  const std::uint64_t since = takeLive(address);
  return {address, since, since == 0 ? 0 : hooks->ticks()};
}

void putBack(const Taken& taken) noexcept {
  if (taken.since != 0 && !putLive(taken.address, taken.since))
    gHooks.load(std::memory_order_relaxed)->lose();
}

void noteReleased(const Taken& taken) noexcept {
  if (taken.since == 0)
    return;
  const Recording recording(__builtin_frame_address(0));
  record(*gHooks.load(std::memory_order_relaxed), taken, taken.ticks);
}

[[gnu::noinline]] void noteLiveReleased(const void* block) noexcept {
  noteReleased(takeBlock(block));
}

}  // namespace sonde::preload::memory

SONDE_EXPORT void sonde_memory_begin(const sonde::preload::memory::Hooks* hooks,
                                     std::uint64_t threshold) {
  using namespace sonde::preload::memory;
  if (hooks->version != kHooksVersion)
    return;
  if (!emptyLiveBlocksInChildren()) {
    hooks->say("not available: this kernel does not wipe memory in forked children");
    return;
  }
  if (isOverlooked())
    hooks->say("not malloc: the program has one of its own");
  gHooks.store(hooks, std::memory_order_release);
  gThreshold = threshold;
}
