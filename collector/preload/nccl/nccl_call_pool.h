// The calls that are known, in a fixed pool of places. A call is written once, before its handle is
// given out, and read by copying it: what a place holds may change under a reader, which then finds
// none. A place is taken again when kMaxCalls later calls have come and nothing of the call runs.
//
// Any thread; nothing locks, allocates or waits. Nothing here writes a record: what comes of a
// change of state is its caller's.
#pragma once

#include "collector/preload/nccl/nccl_pool.h"
#include "collector/wire/records.h"

#include <cstdint>

namespace sonde::preload::nccl {

constexpr std::uint32_t kMaxCalls = 4096;

struct CallIdentity {
  Handle communicator;
  bool byApi = false;            // else the profiler interface told of it first
  bool recorded = false;         // recording was on when it began; else nothing is written of it
  const void* thread = nullptr;  // that made it, as core::tState has it
  std::uint64_t number = 0;      // as its record has it
};

struct Call {
  CallIdentity identity;
  wire::Collective record{};
  std::uint8_t function = 0;  // its number
  const void* send = nullptr;
  const void* receive = nullptr;
  std::uint64_t bufferBytes = 0;  // count times the size of an element
};

// What of a call runs when its state changes.
struct CallRest {
  bool running = false;         // it had not been enqueued
  bool children = false;        // there were some
  std::uint64_t lastTicks = 0;  // when the last child stopped; 0: none has
};

// It runs from now on. `isNothing`: the profiler interface is not going to tell of it. Kind None:
// all the places that were looked at are in use.
Handle publishCall(const Call& call, bool isNothing) noexcept;
// False: the handle is of no call, or of one whose place another has now.
bool readCall(Handle handle, Call& call) noexcept;
bool readCall(Handle handle, CallIdentity& identity) noexcept;  // cheaper

// All below are without effect, and false, when the handle is of no call that is known.

// The call has been enqueued. False also when it was before.
bool finishCall(Handle handle, CallRest& rest) noexcept;
// It is known no longer. False also when nothing of it runs.
bool closeCall(Handle handle, CallRest& rest) noexcept;
// A child starts, and stops. leaveChild() is true for the last one of a call that has been
// enqueued; `latest` then is when the last of its children stopped.
bool joinChild(Handle handle) noexcept;
bool leaveChild(Handle handle, std::uint64_t ticks, std::uint64_t& latest) noexcept;
// The profiler interface tells of it. False also when it was before.
bool tellOfCall(Handle handle) noexcept;
// It is not going to, as was found out late.
void passOverCall(Handle handle) noexcept;
bool isUntold(Handle handle) noexcept;
// Something of it runs.
bool isOpen(Handle handle) noexcept;

// The call in place `back`, of kMaxCalls, before the one that was taken last; 0: that one. Kind
// None: there is none, or it is being made.
Handle callBefore(std::uint32_t back) noexcept;

}  // namespace sonde::preload::nccl
