// Copies the state of the thread that a signal handler interrupted. Safe in any handler.
#pragma once

#include "collector/wire/stack_records.h"

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace sonde::preload::stack {

// Reads them from the handler's third argument, in the order of wire::kStackRegisters.
void copyRegisters(const void* context, std::uint64_t* to) noexcept;

// Copies the registers of its caller, as far as a function must preserve them. Ignores `from`.
void copyOwnRegisters(const void* from, std::uint64_t* to) noexcept;

// Stores the location of the first thread's stack. That thread calls it.
void rememberStack() noexcept;
// Returns a lower bound of the readable stack size of a thread with these attributes; nullptr: the
// defaults. 0: unknown. Does not use malloc.
std::size_t stackBytes(const pthread_attr_t* attributes) noexcept;
// The same for the calling thread, which is not the first one. Does not use malloc, whose locks a
// child of _Fork() may have inherited.
void rememberStack(std::size_t bytes) noexcept;

struct StackCopy {
  std::uint64_t address = 0;  // of the first copied byte
  std::uint32_t bytes = 0;
  bool truncated = false;  // the stack continues
};

// Copies at most `most` bytes of the stack at this stack pointer. It may be the thread's own,
// another handler's, or a coroutine's, whose end is unknown.
StackCopy copyStack(std::uint64_t stackPointer, char* to, std::size_t most) noexcept;

}  // namespace sonde::preload::stack
