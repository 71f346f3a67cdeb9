// Finds the API call for a report of the profiler interface whose version does not identify it
// (before 5). It is the first unreported call with the same function, size and buffers. The calls
// are in a table of kPlaces, at most kAlike of one kind at a time; more displace the oldest. A
// displaced call whose group is not launched yet is later reported as if it were another call, and
// counts as lost.
//
// Any thread; no function locks, allocates or waits.
#pragma once

#include "collector/preload/nccl/nccl_call_pool.h"
#include "collector/preload/nccl/nccl_events.h"

namespace sonde::preload::nccl {

// A plugin of such a version is in use: keeps the calls of the API from now on.
void keepCalls() noexcept;
// Requires: the thread that makes the call has just published it.
void keepCall(Handle handle) noexcept;
// Returns the call and marks it as reported; kind None: none.
Handle takeSameCall(Handle communicator, const CallFacts& facts) noexcept;

}  // namespace sonde::preload::nccl
