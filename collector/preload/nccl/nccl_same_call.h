// Which call of the API the profiler interface tells of where its version does not say (before 5):
// the first of those that it has not told of yet with the function, size and buffers. They are
// found in a table of kPlaces by these, among at most kAlike at a time; what does not fit there
// displaces the oldest. One that its group has yet to launch is then told of as if it were another
// call, and counts as lost.
//
// Any thread; nothing locks, allocates or waits.
#pragma once

#include "collector/preload/nccl/nccl_call_pool.h"
#include "collector/preload/nccl/nccl_events.h"

namespace sonde::preload::nccl {

// A plugin of such a version is in use: from now on calls of the API are kept.
void keepCalls() noexcept;
// Requires: it has just been published, by the thread that makes it.
void keepCall(Handle handle) noexcept;
// The call, which then is told of; kind None: there is none.
Handle takeSameCall(Handle communicator, const CallFacts& facts) noexcept;

}  // namespace sonde::preload::nccl
