// Copies threads' stacks each time they have run for a period.
#pragma once

#include <cstddef>

namespace sonde::preload::stack {

// Whether threads are being sampled.
bool isSampling() noexcept;
// Whether a thread that is about to be created will be sampled. Attaches a forked child first.
bool samplesNewThreads() noexcept;

// The calling thread has started, with a stack of this size (thread_copy.h). Not in a signal
// handler.
void beginThread(std::size_t stackBytes) noexcept;
// The calling thread is about to end.
void endThread() noexcept;

}  // namespace sonde::preload::stack
