// Follows collectives, sends and receives from their start until nothing of them runs any more. It
// keeps them for a while after that, because NCCL may start work for them long after the host's
// call has returned. Handles the reports of the profiler interface (rules: nccl_events.h, and
// startCall()). nccl_api_calls.h handles calls of NCCL's API. Any thread; no function locks or
// allocates.
#pragma once

#include "collector/preload/nccl/nccl_call_pool.h"
#include "collector/preload/nccl/nccl_events.h"
#include "collector/preload/nccl/nccl_pool.h"

#include <cstdint>

namespace sonde::preload::nccl {

// Parts of a Handle of kind Api: the generation of one without a call, and bits of its index. The
// index is that of a call, plus the bits that describe the call.
constexpr std::uint32_t kApiNothing = 1;
constexpr std::uint32_t kApiHasCall = 1u << 22;
constexpr std::uint32_t kApiCaptured = 1u << 23;  // by a CUDA graph
// Index and generation are those of a communicator, which the captured call belongs to.
constexpr std::uint32_t kApiHasCommunicator = 1u << 21;
// A call that found no room but has its number. Not combined with the two bits above that have an
// index.
constexpr std::uint32_t kApiCounted = 1u << 20;
// In a Handle of kind Call that NCCL holds: the call is a send or receive, whatever function was
// called. Proxies report only their parent's handle, which may belong to another process.
constexpr std::uint32_t kPeerTraffic = 1u << 20;

// The handle that NCCL gets for a send or receive. If it is not recorded, the handle has no place.
inline Handle peerTraffic(Handle communicator, Handle call) noexcept {
  if (communicator.kind != HandleKind::Communicator)
    return {};
  return {HandleKind::Call, call.generation, (call ? call.index : kMaxCalls) | kPeerTraffic};
}

inline bool isPeerTraffic(Handle event) noexcept {
  return event.kind == HandleKind::Call && (event.index & kPeerTraffic) != 0;
}

// The event as this probe's functions use it.
inline Handle eventOf(const void* opaque) noexcept {
  Handle event = Handle::of(opaque);
  if (event.kind == HandleKind::Call)
    event.index &= ~kPeerTraffic;
  return event;
}

// The call has been enqueued; it may be Handle::None.
void stopCall(Handle call) noexcept;
// A child of the call starts: returns the call's number, 0 if the handle belongs to no known call.
// leaveCall(): a child that joined stops.
std::uint64_t joinCall(Handle call) noexcept;
void leaveCall(Handle call, std::uint64_t ticks) noexcept;

// Writes the open calls of this communicator, with their end if it is known.
void closeCalls(Handle communicator) noexcept;

}  // namespace sonde::preload::nccl
