// Writes the records of a call: its own record from its facts, and the records of its plan and its
// end. Any thread; no function locks or allocates.
#pragma once

#include "collector/preload/nccl/nccl_call_pool.h"
#include "collector/preload/nccl/nccl_events.h"

#include <cstdint>

namespace sonde::preload::nccl {

// The number of the latest call in this process.
std::uint64_t lastCallNumber() noexcept;

// Takes and returns the call's number within the communicator.
std::uint64_t takeSequence(Handle handle,
                           Communicator& communicator,
                           const CallFacts& facts) noexcept;

// Publishes the call as it begins now. Kind None: no room; counted as lost. A call that begins
// while recording is off is also kept, so that a later report of the profiler interface is not
// mistaken for another call.
Handle addCall(Handle handle,
               const Communicator& communicator,
               const CallFacts& facts,
               std::uint64_t seq) noexcept;

// Whether the profiler interface will not report the call.
bool isNothing(const Communicator& communicator, const CallFacts& facts) noexcept;

void fillInSizes(wire::Collective& record,
                 const Communicator& communicator,
                 const CallFacts& facts) noexcept;

// The functions below write nothing for a call that is not recorded.
void writePlan(const CallIdentity& call, const CallFacts& facts) noexcept;
void writeEnd(const CallIdentity& call, std::uint64_t ticks, std::uint32_t flags = 0) noexcept;
// The call has been enqueued; `endTicks` of its record is when its function returned.
void writeFinished(const Call& call, const CallRest& rest) noexcept;
// The work that now runs in the communicator will never end.
void writeAbort(Handle communicator) noexcept;
// The call is forgotten, perhaps before its function has returned.
void writeClosed(const Call& call, const CallRest& rest) noexcept;

}  // namespace sonde::preload::nccl
