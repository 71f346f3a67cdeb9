// The requests of this process that have not ended, and the messages that MPI_Mprobe has matched
// and nobody has received yet. Any thread; nothing locks or allocates.
//
// MPI gives a handle again as soon as its request has ended, which it has before the call that
// ended it returns: with several threads in MPI the next request of a handle may be here while its
// last one is, too. A call that ends requests says so before it is made (RequestId).
#pragma once

#include "collector/preload/mpi/interposer/mpi_communicators.h"
#include "collector/preload/mpi/interposer/mpi_crossings.h"
#include "collector/wire/records.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::mpi {

enum class RequestKind : std::uint8_t { Send, Receive, Collective, Other };

// What a request stands for.
struct Request {
  RequestKind kind;
  bool persistent;
  bool started;    // else it waits for MPI_Start
  bool recorded;   // of a collective: its begin was
  bool inexact;    // its number may be off
  bool anySource;  // or any tag: it gets a number when it has ended …
  bool numbered;   // … or when it is matched
  bool sends;      // of a receive: `sent`, too
  bool cancelled;  // or not, as its status will say
  std::int32_t peer;
  std::int32_t tag;
  Communicator* communicator;  // nullptr: none; kept until the request has gone
  std::uint64_t begin;         // ticks
  std::uint64_t bytes;         // of a send; of one that `sends`, too, how many there is room for
  std::uint64_t number;        // of the message
  Handle made;                 // a communicator that is there once this has ended; 0: none
  std::uint32_t place;         // of that among those of the same members
  Crossing crossing;           // while it is started
  union {
    wire::Collective collective;
    wire::Message sent;
  };
};

// How many requests were added before.
using RequestOrder = std::uint64_t;
RequestOrder requestsSoFar() noexcept;

// The request that the program means by a handle when it makes a call.
struct RequestId {
  Handle handle;
  RequestOrder before;  // the last of this handle that was added before
};
inline RequestId requestOf(Handle handle) noexcept {
  return {handle, requestsSoFar()};
}

// False: there is no room. Where one thread is in MPI at a time, one that is already there under
// this handle has gone by a way that is not seen.
bool addRequest(Handle handle, const Request& request) noexcept;

// nullptr: it is not known. The entry is the caller's as long as the request is: MPI allows no two
// threads to complete one.
Request* findRequest(const RequestId& id) noexcept;
// Requires: findRequest() gave it, and it was not removed since.
void removeRequest(Request& request) noexcept;

// How many messages and collectives were started and are not known to have ended.
std::uint32_t requestsLeft() noexcept;

}  // namespace sonde::preload::mpi
