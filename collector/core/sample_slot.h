// Records of a signal handler that may have interrupted its thread in the middle of a record. They
// go to a separate slot that only this handler uses. The handler must not interrupt itself.
#pragma once

#include "collector/core/thread_state.h"

#include <cstddef>

namespace sonde::core {

// The place for `bytes` (a multiple of 8); nullptr: no room. Requires: isCurrent(state).
char* reserveSample(ThreadState* state, std::size_t bytes) noexcept;
// Makes the reserved bytes visible.
void publishSample(ThreadState* state, std::size_t bytes) noexcept;

// The thread ends.
void releaseSamples(ThreadState* state) noexcept;

}  // namespace sonde::core
