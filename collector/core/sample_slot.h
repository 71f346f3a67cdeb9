// Records that a signal handler writes while the thread that it interrupted may be in the middle of
// one: they go to a slot of their own, which nothing but that handler touches. The handler must not
// be interrupted by itself.
#pragma once

#include "collector/core/thread_state.h"

#include <cstddef>

namespace sonde::core {

// Where `bytes` (a multiple of 8) go; nullptr: there is no room. Requires: isCurrent(state).
char* reserveSample(ThreadState* state, std::size_t bytes) noexcept;
// Makes them visible.
void publishSample(ThreadState* state, std::size_t bytes) noexcept;

// The thread ends.
void releaseSamples(ThreadState* state) noexcept;

}  // namespace sonde::core
