// Collectives, sends and receives from their start until nothing of them runs any more, and for a
// while after, because NCCL may start work for them long after the host's call has returned.
// nccl_events.h has the rules. Any thread; nothing locks or allocates.
#pragma once

#include "collector/preload/probes/nccl_events.h"
#include "collector/preload/probes/nccl_pool.h"

#include <cstdint>

namespace sonde::preload::nccl {

// Of a Handle of kind Api: its index is that of a call, and what the call is.
constexpr std::uint32_t kApiHasCall = 1u << 22;
constexpr std::uint32_t kApiCaptured = 1u << 23;  // by a CUDA graph
// Its index and generation are those of a communicator, which a captured call is of.
constexpr std::uint32_t kApiHasCommunicator = 1u << 21;

// The call, Handle::None included, has been enqueued.
void stopCall(Handle call) noexcept;
// A child of it starts; the call's number, 0 when the handle is of no call that is known. A child
// that has joined leaves.
std::uint64_t joinCall(Handle call) noexcept;
void leaveCall(Handle call, std::uint64_t ticks) noexcept;

struct BegunCall {
  Handle call;  // None: it is not recorded
  std::uint64_t seq = 0;
};

// The same for a call of NCCL's API. Ended, or dropped because it failed; then its number goes
// back.
BegunCall beginApiCall(Handle communicator, const CallFacts& facts) noexcept;
void endApiCall(Handle call, const CallFacts& facts, bool grouped) noexcept;
void dropApiCall(Handle call) noexcept;
void giveBack(Handle communicator, const CallFacts& facts, std::uint64_t seq) noexcept;
// Kind None: it is of no call that is known.
Handle communicatorOfCall(Handle call) noexcept;
// Calls of this thread that have ended, and will not take place, though they were recorded.
std::uint64_t lastCallNumber() noexcept;
void dropApiCallsSince(std::uint64_t number) noexcept;
// `communicator`, of the profiler interface, is that of the call.
void identifyWith(Handle communicator, Handle call) noexcept;

// What is open in this communicator is not going to end.
void abortCalls(Handle communicator) noexcept;
// What is open in this communicator is written, with the end that is known.
void closeCalls(Handle communicator) noexcept;

}  // namespace sonde::preload::nccl
