// The requests of this process that have not ended, and the messages that MPI_Mprobe has matched
// and that are not received yet. Any thread; no function locks or allocates.
//
// MPI reuses a handle as soon as its request has ended, before the call that ended it returns. With
// several threads in MPI, the next request with a handle may be added while the previous one is
// still here. So a call that ends requests notes which ones it means before it is made (RequestId).
#pragma once

#include "collector/preload/mpi/interposer/mpi_communicators.h"
#include "collector/preload/mpi/interposer/mpi_crossings.h"
#include "collector/wire/records.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::mpi {

enum class RequestKind : std::uint8_t { Send, Receive, Collective, Other };

// The operation of a request.
struct Request {
  RequestKind kind;
  bool persistent;
  bool started;    // else waits for MPI_Start
  bool recorded;   // for a collective: its begin was recorded
  bool inexact;    // its number may be wrong
  bool anySource;  // any source or tag: it gets its number when it has ended …
  bool numbered;   // … or when it is matched
  bool sends;      // a receive that also sends `sent`
  bool cancelled;  // cancellation was requested; its status will show the result
  std::int32_t peer;
  std::int32_t tag;
  Communicator* communicator;  // nullptr: none; kept until the request is removed
  std::uint64_t begin;         // ticks
  std::uint64_t bytes;         // of a send; with `sends`, the room for the received message
  std::uint64_t number;        // of the message
  Handle made;                 // a communicator that exists once this has ended; 0: none
  std::uint32_t place;         // the ordinal of that communicator among those with the same members
  Crossing crossing;           // while it is started
  union {
    wire::Collective collective;
    wire::Message sent;
  };
};

// Number of requests added so far.
using RequestOrder = std::uint64_t;
RequestOrder requestsSoFar() noexcept;

// Identifies the request that the program means by a handle when it makes a call.
struct RequestId {
  Handle handle;
  RequestOrder before;  // the latest request with this handle that was added before
};
inline RequestId requestOf(Handle handle) noexcept {
  return {handle, requestsSoFar()};
}

// False: no room. If only one thread is in MPI at a time, an existing entry with this handle ended
// without Sonde seeing it, and is replaced.
bool addRequest(Handle handle, const Request& request) noexcept;

// nullptr: unknown. The entry is the caller's as long as the request: MPI forbids two threads to
// complete the same request.
Request* findRequest(const RequestId& id) noexcept;
// Requires: findRequest() returned it, and it was not removed since.
void removeRequest(Request& request) noexcept;

// Number of messages and collectives that were started and are not known to have ended.
std::uint32_t requestsLeft() noexcept;

}  // namespace sonde::preload::mpi
