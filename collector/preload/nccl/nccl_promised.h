// Communicators that NCCL makes when their thread's group ends. Each function is for the thread
// itself; nothing locks or allocates.
#pragma once

#include "collector/core/thread_state.h"
#include "collector/preload/nccl/nccl_hooks.h"

namespace sonde::preload::nccl {

// What finds no room is known from its first call on.
void promise(const core::ThreadState* thread, const NewCommunicator& made) noexcept;
// The next that was promised; false: there is none.
bool takePromised(const core::ThreadState* thread, NewCommunicator& made) noexcept;
// None is made any more. A thread that ended in a group has left its own to the next with its
// state, and the places where NCCL was to write are gone.
void forgetPromised(const core::ThreadState* thread) noexcept;

}  // namespace sonde::preload::nccl
