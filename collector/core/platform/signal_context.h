// Whether the calling thread is inside a signal handler.
#pragma once

namespace sonde::core {

// Also true if that cannot be ruled out. A program without handlers is never in one. Otherwise
// searches the stack above the caller for the frame that the kernel makes; it cannot if
// process_vm_readv(2) and /proc/self/mem are both forbidden. Safe anywhere. False in a handler that
// has unblocked its own signal with sigprocmask(2).
bool maybeInSignalHandler() noexcept;

}  // namespace sonde::core
