// Child processes of a sequence, created in every way, and the final state of a process.
#pragma once

#include "tests/host/context.h"

namespace host {

// Waits for the child with one of the waiting functions, and logs how it ended. -1: any child.
void awaitChild(Context& c, pid_t child) noexcept;

// Ends a child in one of the possible ways.
[[noreturn]] void leave(Context& c) noexcept;

// Logs the descriptors, the signal mask, the signals' actions, limits and names. One thread.
void logFinalState(Context& c) noexcept;

// Makes `count` random calls; `isVfork`: only calls that a child of vfork may make.
void makeCalls(Context& c, int count, bool isVfork) noexcept;

// A child that makes its own calls.
void forkedChild(Context& c) noexcept;
void vforkedChild(Context& c) noexcept;

// Calls and children and threads.
void runSequence(Context& c, int steps) noexcept;

}  // namespace host
