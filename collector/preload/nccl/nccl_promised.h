// Communicators that NCCL creates when their thread's group ends. Each thread calls these for
// itself; no function locks or allocates.
#pragma once

#include "collector/core/thread_state.h"
#include "collector/preload/nccl/nccl_hooks.h"

namespace sonde::preload::nccl {

// If there is no room, the communicator is registered at its first call.
void promise(const core::ThreadState* thread, const NewCommunicator& made) noexcept;
// Returns the next promised one; false: none.
bool takePromised(const core::ThreadState* thread, NewCommunicator& made) noexcept;
// The thread expects no more communicators. If a thread ended inside a group, the next thread with
// its state has inherited the list; the places where NCCL was to write are gone.
void forgetPromised(const core::ThreadState* thread) noexcept;

}  // namespace sonde::preload::nccl
