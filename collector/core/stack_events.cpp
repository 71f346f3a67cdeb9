#include "collector/core/stack_events.h"

namespace sonde::core {

constinit std::atomic<std::uint32_t> gStackEvents{0};

namespace {

constinit std::atomic<TakeStack> gTake{nullptr};

// 0.05 to 0.2 ms: shorter waits are not worth the copy.
constexpr std::uint64_t kShortestTicks = 200'000;

}  // namespace

void takeStacksAt(std::uint32_t events, TakeStack take) noexcept {
  gTake.store(take, std::memory_order_relaxed);
  gStackEvents.store(events, std::memory_order_release);
}

[[gnu::cold, gnu::noinline]] void takeStack(std::uint32_t event,
                                            std::uint64_t beginTicks,
                                            std::uint64_t endTicks) noexcept {
  const bool blocked = event == wire::StackRule::kAtBlock;
  if (!blocked || endTicks - beginTicks >= kShortestTicks)
    gTake.load(std::memory_order_relaxed)({beginTicks, endTicks, blocked, 0});
}

void takeCallStack(std::uint64_t beginTicks, std::uint32_t correlation) noexcept {
  gTake.load(std::memory_order_relaxed)({beginTicks, beginTicks, false, correlation});
}

}  // namespace sonde::core
