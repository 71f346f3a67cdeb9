// Collectives, sends and receives from their start until nothing of them runs any more, and for a
// while after, because NCCL may start work for them long after the host's call has returned: what
// the profiler interface tells of them (nccl_events.h has the rules, and startCall()). What NCCL's
// API tells is in nccl_api_calls.h. Any thread; nothing locks or allocates.
#pragma once

#include "collector/preload/nccl/nccl_call_pool.h"
#include "collector/preload/nccl/nccl_events.h"
#include "collector/preload/nccl/nccl_pool.h"

#include <cstdint>

namespace sonde::preload::nccl {

// Of a Handle of kind Api: the generation of one without a call; its index is that of a call, and
// what the call is.
constexpr std::uint32_t kApiNothing = 1;
constexpr std::uint32_t kApiHasCall = 1u << 22;
constexpr std::uint32_t kApiCaptured = 1u << 23;  // by a CUDA graph
// Its index and generation are those of a communicator, which a captured call is of.
constexpr std::uint32_t kApiHasCommunicator = 1u << 21;
// A call that found no room, and has its number. Not together with the two that have an index.
constexpr std::uint32_t kApiCounted = 1u << 20;
// Of a Handle of kind Call as NCCL has it: of a send or receive, whatever function was called.
// Proxies tell their parent's handle alone, which may be another process's.
constexpr std::uint32_t kPeerTraffic = 1u << 20;

// The handle that NCCL gets for a send or receive; one that is not recorded is of no place.
inline Handle peerTraffic(Handle communicator, Handle call) noexcept {
  if (communicator.kind != HandleKind::Communicator)
    return {};
  return {HandleKind::Call, call.generation, (call ? call.index : kMaxCalls) | kPeerTraffic};
}

inline bool isPeerTraffic(Handle event) noexcept {
  return event.kind == HandleKind::Call && (event.index & kPeerTraffic) != 0;
}

// The event as the functions of this probe have it.
inline Handle eventOf(const void* opaque) noexcept {
  Handle event = Handle::of(opaque);
  if (event.kind == HandleKind::Call)
    event.index &= ~kPeerTraffic;
  return event;
}

// The call, Handle::None included, has been enqueued.
void stopCall(Handle call) noexcept;
// A child of it starts; the call's number, 0 when the handle is of no call that is known. A child
// that has joined leaves.
std::uint64_t joinCall(Handle call) noexcept;
void leaveCall(Handle call, std::uint64_t ticks) noexcept;

// What is open in this communicator is written, with the end that is known.
void closeCalls(Handle communicator) noexcept;

}  // namespace sonde::preload::nccl
