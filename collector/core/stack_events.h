// Stacks at what threads do, besides those by their CPU time: for whoever records it. Lock-free;
// any thread.
#pragma once

#include "collector/wire/spool_format.h"

#include <atomic>
#include <cstdint>

namespace sonde::core {

// The calling thread's stack, of what lasted from one tick to the other; `blocked`: it waited.
using TakeStack = void (*)(std::uint64_t beginTicks, std::uint64_t endTicks, bool blocked);

// From now on at these (StackRule::kAt…).
void takeStacksAt(std::uint32_t events, TakeStack take) noexcept;

extern std::atomic<std::uint32_t> gStackEvents;
void takeStack(std::uint32_t event, std::uint64_t beginTicks, std::uint64_t endTicks) noexcept;

// The thread has just done that. Not while a record of it is being written.
inline void stackAt(std::uint32_t event,
                    std::uint64_t beginTicks,
                    std::uint64_t endTicks) noexcept {
  if ((gStackEvents.load(std::memory_order_relaxed) & event) != 0)
    takeStack(event, beginTicks, endTicks);
}

}  // namespace sonde::core
