// Collectives, sends and receives as the program calls them. nccl_api.cpp passes the calls here;
// nccl_calls.h follows them further. Any thread; no function locks or allocates.
#pragma once

#include "collector/preload/nccl/nccl_events.h"
#include "collector/preload/nccl/nccl_pool.h"

#include <cstdint>

namespace sonde::preload::nccl {

struct BegunCall {
  Handle call;  // of kind Api, or None: no room, or the communicator is unknown
  std::uint64_t seq = 0;
};

// End with endApiCall(), or with dropApiCall() if it failed, which gives its number back.
BegunCall beginApiCall(Handle communicator, const CallFacts& facts) noexcept;
// `group`: as in wire::Collective.
void endApiCall(Handle call, const CallFacts& facts, std::uint8_t group) noexcept;
void dropApiCall(Handle call) noexcept;
void giveBack(Handle communicator, const CallFacts& facts, std::uint64_t seq) noexcept;
// Kind None: the handle belongs to no known call.
Handle communicatorOfCall(Handle call) noexcept;
// Drops the calls of this thread after that number which have ended and were recorded, but will not
// take place.
void dropApiCallsSince(std::uint64_t number) noexcept;
// `communicator`, from the profiler interface, is the communicator of the call.
void identifyWith(Handle communicator, Handle call) noexcept;

}  // namespace sonde::preload::nccl
