// Stack samples at events of threads, besides those by CPU time. Lock-free; any thread.
#pragma once

#include "collector/wire/spool_format.h"

#include <atomic>
#include <cstdint>

namespace sonde::core {

// An event that a thread has just finished.
struct StackEvent {
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  bool blocked;               // the thread waited
  std::uint32_t correlation;  // the correlation of its CUDA call; 0: not a CUDA call
};

// Takes the calling thread's stack.
using TakeStack = void (*)(const StackEvent& event);

// From now on takes stacks at these events (StackRule::kAt…).
void takeStacksAt(std::uint32_t events, TakeStack take) noexcept;

extern std::atomic<std::uint32_t> gStackEvents;
void takeStack(std::uint32_t event, std::uint64_t beginTicks, std::uint64_t endTicks) noexcept;
void takeCallStack(std::uint64_t beginTicks, std::uint32_t correlation) noexcept;

inline bool takesStacksAt(std::uint32_t event) noexcept {
  return (gStackEvents.load(std::memory_order_relaxed) & event) != 0;
}

// The thread has just finished an event. Must not be called while its record is being written.
inline void stackAt(std::uint32_t event,
                    std::uint64_t beginTicks,
                    std::uint64_t endTicks) noexcept {
  if (takesStacksAt(event))
    takeStack(event, beginTicks, endTicks);
}

}  // namespace sonde::core
