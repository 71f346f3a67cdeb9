// The known calls, in a fixed pool of places. A call is written once, before its handle is handed
// out, and read by copying. If its place is reused during a read, the reader gets nothing. A place
// is reused when kMaxCalls later calls have come and nothing of the call runs.
//
// Any thread; no function locks, allocates or waits. No function here writes a record: the caller
// acts on a change of state.
#pragma once

#include "collector/preload/nccl/nccl_pool.h"
#include "collector/wire/records.h"

#include <cstdint>

namespace sonde::preload::nccl {

constexpr std::uint32_t kMaxCalls = 4096;

struct CallIdentity {
  Handle communicator;
  bool byApi = false;            // else the profiler interface reported it first
  bool recorded = false;         // recording was on when it began; else no record is written
  const void* thread = nullptr;  // the thread that made it: core::tState
  std::uint64_t number = 0;      // as in its record
};

struct Call {
  CallIdentity identity;
  wire::Collective record{};
  std::uint8_t function = 0;  // its number
  const void* send = nullptr;
  const void* receive = nullptr;
  std::uint64_t bufferBytes = 0;  // count times the size of an element
};

// The running parts of a call when its state changes.
struct CallRest {
  bool running = false;         // it had not been enqueued
  bool children = false;        // it had children
  std::uint64_t lastTicks = 0;  // when the last child stopped; 0: none has stopped
};

// Adds a running call. `isNothing`: the profiler interface will not report it. Kind None: all
// places that were tried are in use.
Handle publishCall(const Call& call, bool isNothing) noexcept;
// False: the handle is invalid, or its place was reused.
bool readCall(Handle handle, Call& call) noexcept;
bool readCall(Handle handle, CallIdentity& identity) noexcept;  // cheaper

// The functions below have no effect and return false if the handle belongs to no known call.

// The call has been enqueued. Also false if it already was.
bool finishCall(Handle handle, CallRest& rest) noexcept;
// Forgets the call. Also false if nothing of it runs.
bool closeCall(Handle handle, CallRest& rest) noexcept;
// A child starts or stops. leaveChild() returns true for the last child of an enqueued call;
// `latest` is then when the last of its children stopped.
bool joinChild(Handle handle) noexcept;
bool leaveChild(Handle handle, std::uint64_t ticks, std::uint64_t& latest) noexcept;
// The profiler interface reports the call. Also false if it already had.
bool tellOfCall(Handle handle) noexcept;
// The interface will not report it; this was found out late.
void passOverCall(Handle handle) noexcept;
bool isUntold(Handle handle) noexcept;
// Whether something of it runs.
bool isOpen(Handle handle) noexcept;

// The call in the place that was taken `back` (< kMaxCalls) places before the latest one. Kind
// None: it has no call, or the call is being written.
Handle callBefore(std::uint32_t back) noexcept;

}  // namespace sonde::preload::nccl
