// Copies of threads' stacks, taken when they have run for a while.
#pragma once

#include <cstddef>

namespace sonde::preload::stack {

// Whether threads are interrupted at all.
bool isSampling() noexcept;
// Whether a thread that is about to be made shall be. Attaches a forked child first.
bool samplesNewThreads() noexcept;

// The calling thread has begun, with a stack of this size (thread_copy.h). Not in a signal handler.
void beginThread(std::size_t stackBytes) noexcept;
// It is about to end.
void endThread() noexcept;

}  // namespace sonde::preload::stack
