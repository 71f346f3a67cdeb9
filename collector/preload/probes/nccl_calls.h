// Collectives, sends and receives from their start until nothing of them runs any more, and for a
// while after, because NCCL may start work for them long after the host's call has returned.
// nccl_events.h has the rules. Any thread; nothing locks or allocates.
#pragma once

#include "collector/preload/probes/nccl_pool.h"

#include <cstdint>

namespace sonde::preload::nccl {

// The call, Handle::None included, has been enqueued.
void stopCall(Handle call) noexcept;
// A child of it starts; the call's number, 0 when the handle is of no call that is known. A child
// that has joined leaves.
std::uint64_t joinCall(Handle call) noexcept;
void leaveCall(Handle call, std::uint64_t ticks) noexcept;
// What is open in this communicator is written, with the end that is known.
void closeCalls(Handle communicator) noexcept;

}  // namespace sonde::preload::nccl
