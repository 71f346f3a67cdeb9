// The requests of this process that have not ended, and the messages that MPI_Mprobe has matched
// and nobody has received yet. Any thread; nothing locks or allocates. MPI's handles are given
// again: an entry is found until its request ends.
#pragma once

#include "collector/preload/mpi/mpi_communicators.h"
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
  std::int32_t peer;
  std::int32_t tag;
  Communicator* communicator;  // nullptr: none; kept until the request has gone
  std::uint64_t begin;         // ticks
  std::uint64_t bytes;         // of a send
  std::uint64_t number;        // of the message
  Handle made;                 // a communicator that is there once this has ended; 0: none
  std::uint32_t place;         // of that among those of the same members
  wire::Collective collective;
};

// False: there is no room. One that is already there under this handle has gone by a way that is
// not seen.
bool addRequest(Handle handle, const Request& request) noexcept;

// nullptr: it is not known. The entry is the caller's as long as the request is: MPI allows no two
// threads to complete one.
Request* findRequest(Handle handle) noexcept;
void removeRequest(Handle handle) noexcept;

// How many messages and collectives were started and are not known to have ended.
std::uint32_t requestsLeft() noexcept;

}  // namespace sonde::preload::mpi
