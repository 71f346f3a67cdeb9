// Child processes of a sequence, made in each way there is, and what is left at the end of a
// process.
#pragma once

#include "tests/host/context.h"

namespace host {

// Waits for the child, by one of the functions that do, and logs how it ended. -1: whichever there
// is.
void awaitChild(Context& c, pid_t child) noexcept;

// Ends a child in one of the ways there are.
[[noreturn]] void leave(Context& c) noexcept;

// Logs the descriptors, the signal mask, the signals' actions, limits and names. One thread.
void logFinalState(Context& c) noexcept;

// A number of random calls; `isVfork`: only what a child of vfork may do.
void makeCalls(Context& c, int count, bool isVfork) noexcept;

// A child that makes calls of its own.
void forkedChild(Context& c) noexcept;
void vforkedChild(Context& c) noexcept;

// Calls and children and threads.
void runSequence(Context& c, int steps) noexcept;

}  // namespace host
