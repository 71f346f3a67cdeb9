// Stacks at what threads do, besides those by their CPU time: for whoever records it. Lock-free;
// any thread.
#pragma once

#include "collector/wire/spool_format.h"

#include <atomic>
#include <cstdint>

namespace sonde::core {

// What a thread has just done.
struct StackEvent {
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  bool blocked;               // it waited
  std::uint32_t correlation;  // the CUDA call's that it was; 0: it was none
};

// The calling thread's stack.
using TakeStack = void (*)(const StackEvent& event);

// From now on at these (StackRule::kAt…).
void takeStacksAt(std::uint32_t events, TakeStack take) noexcept;

extern std::atomic<std::uint32_t> gStackEvents;
void takeStack(std::uint32_t event, std::uint64_t beginTicks, std::uint64_t endTicks) noexcept;
void takeCallStack(std::uint64_t beginTicks, std::uint32_t correlation) noexcept;

inline bool takesStacksAt(std::uint32_t event) noexcept {
  return (gStackEvents.load(std::memory_order_relaxed) & event) != 0;
}

// The thread has just done that. Not while a record of it is being written.
inline void stackAt(std::uint32_t event,
                    std::uint64_t beginTicks,
                    std::uint64_t endTicks) noexcept {
  if (takesStacksAt(event))
    takeStack(event, beginTicks, endTicks);
}

}  // namespace sonde::core
