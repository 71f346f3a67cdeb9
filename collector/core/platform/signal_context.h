// Whether the calling thread is inside a signal handler.
#pragma once

namespace sonde::core {

// True also where that cannot be ruled out: a program without handlers is never in one; else the
// stack above the caller is searched for the frame that the kernel makes, which it may not be where
// both process_vm_readv(2) and /proc/self/mem are forbidden. Safe anywhere. False in a handler that
// has let its own signal come again, by sigprocmask(2).
bool maybeInSignalHandler() noexcept;

}  // namespace sonde::core
