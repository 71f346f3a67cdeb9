// Detects a child of vfork, which runs in its parent's memory, including its thread's state. Any
// thread; no function locks or changes errno.
#pragma once

namespace sonde::core {

// True in a child of vfork() or of a similar clone, which shares its parent's memory and must not
// change tables there. Makes a system call.
bool inVforkChild() noexcept;

// The same for vfork() only. Makes no system call unless the thread has called vfork() since its
// last check.
bool inNotedVforkChild() noexcept;
// The calling thread is about to call vfork().
void noteVfork() noexcept;

}  // namespace sonde::core
