// Collectives, sends and receives as the program calls them: what nccl_api.cpp is told of becomes
// calls here, which nccl_calls.h carries on. Any thread; nothing locks or allocates.
#pragma once

#include "collector/preload/nccl/nccl_events.h"
#include "collector/preload/nccl/nccl_pool.h"

#include <cstdint>

namespace sonde::preload::nccl {

struct BegunCall {
  Handle call;  // of kind Api, or None: there is no room for it, or its communicator is not known
  std::uint64_t seq = 0;
};

// Ended, or dropped because it failed; then its number goes back.
BegunCall beginApiCall(Handle communicator, const CallFacts& facts) noexcept;
// `group`: as wire::Collective has it.
void endApiCall(Handle call, const CallFacts& facts, std::uint8_t group) noexcept;
void dropApiCall(Handle call) noexcept;
void giveBack(Handle communicator, const CallFacts& facts, std::uint64_t seq) noexcept;
// Kind None: it is of no call that is known.
Handle communicatorOfCall(Handle call) noexcept;
// Calls of this thread, later than that of this number, that have ended and will not take place,
// though they were recorded.
void dropApiCallsSince(std::uint64_t number) noexcept;
// `communicator`, of the profiler interface, is that of the call.
void identifyWith(Handle communicator, Handle call) noexcept;

}  // namespace sonde::preload::nccl
