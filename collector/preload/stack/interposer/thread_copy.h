// What a signal handler copies of the thread that it interrupted. Safe in any of them.
#pragma once

#include "collector/wire/stack_records.h"

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace sonde::preload::stack {

// In the order of wire::kStackRegisters, from the handler's third argument.
void copyRegisters(const void* context, std::uint64_t* to) noexcept;

// Those of its caller, which a function must preserve. `from` means nothing.
void copyOwnRegisters(const void* from, std::uint64_t* to) noexcept;

// Remembers where the stack of the process's first thread lies, which calls it.
void rememberStack() noexcept;
// How large the stack of a thread with these attributes will be at least, as far down as may be
// read; nullptr: the defaults. 0: not known. Without malloc.
std::size_t stackBytes(const pthread_attr_t* attributes) noexcept;
// The same of the calling thread, which is another than the first one. Without malloc, whose locks
// a child of _Fork() may have inherited.
void rememberStack(std::size_t bytes) noexcept;

struct StackCopy {
  std::uint64_t address = 0;  // of the first byte that was copied
  std::uint32_t bytes = 0;
  bool truncated = false;  // the stack goes on
};

// Copies at most `most` bytes of the stack at this stack pointer, whichever it is: the thread's
// own, that of another handler, or a coroutine's, which ends nobody knows where.
StackCopy copyStack(std::uint64_t stackPointer, char* to, std::size_t most) noexcept;

}  // namespace sonde::preload::stack
