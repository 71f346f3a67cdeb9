// What is written of a call: its record as its facts have it, and the records of how NCCL carries
// it out and of its end. Any thread; nothing locks or allocates.
#pragma once

#include "collector/preload/nccl/nccl_call_pool.h"
#include "collector/preload/nccl/nccl_events.h"

#include <cstdint>

namespace sonde::preload::nccl {

// The number of the last call that was made in this process.
std::uint64_t lastCallNumber() noexcept;

// Its number within the communicator, which it takes.
std::uint64_t takeSequence(Handle handle,
                           Communicator& communicator,
                           const CallFacts& facts) noexcept;

// The call as it begins now, published; kind None, and counted as lost: there is no room. One that
// begins while recording is off is known, too, so that what the profiler interface tells of it is
// not taken for another call.
Handle addCall(Handle handle,
               const Communicator& communicator,
               const CallFacts& facts,
               std::uint64_t seq) noexcept;

// Whether the profiler interface is not going to tell of it.
bool isNothing(const Communicator& communicator, const CallFacts& facts) noexcept;

void fillInSizes(wire::Collective& record,
                 const Communicator& communicator,
                 const CallFacts& facts) noexcept;

// All below write nothing of a call that is not recorded.
void writePlan(const CallIdentity& call, const CallFacts& facts) noexcept;
void writeEnd(const CallIdentity& call, std::uint64_t ticks, std::uint32_t flags = 0) noexcept;
// The call has been enqueued; `endTicks` of its record says when its function returned.
void writeFinished(const Call& call, const CallRest& rest) noexcept;
// What runs in the communicator now is not going to end.
void writeAbort(Handle communicator) noexcept;
// It is known no longer, perhaps before its function has returned.
void writeClosed(const Call& call, const CallRest& rest) noexcept;

}  // namespace sonde::preload::nccl
