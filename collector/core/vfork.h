// Whether this is a child of vfork, which runs on its parent's memory, its thread's state included.
// Any thread; nothing here locks or changes errno.
#pragma once

namespace sonde::core {

// True in a child of vfork() or of a like clone, which shares its parent's memory and must not
// touch tables kept there. A system call.
bool inVforkChild() noexcept;

// The same of vfork() alone, and without a system call unless the thread has called that since it
// last asked.
bool inNotedVforkChild() noexcept;
// The calling thread is about to call vfork().
void noteVfork() noexcept;

}  // namespace sonde::core
