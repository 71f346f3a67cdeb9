// Converts the arguments of MPI's functions to messages: channel, number, bytes. Any thread. All
// functions require isActive().
#pragma once

#include "collector/preload/mpi/interposer/mpi_communicators.h"
#include "collector/preload/mpi/interposer/mpi_crossings.h"
#include "collector/preload/mpi/interposer/mpi_library.h"
#include "collector/preload/mpi/interposer/mpi_requests.h"

namespace sonde::preload::mpi {

// Elements of a datatype. For parameters that are ints in C the upper half is undefined.
struct Elements {
  std::uint64_t count;
  Word type;
};
template <typename Count>
inline Elements elements(Word count, Word type) noexcept {
  const auto signedCount = static_cast<std::int64_t>(static_cast<Count>(count));
  return {signedCount < 0 ? 0 : static_cast<std::uint64_t>(signedCount), type};
}

Datatype datatypeOf(Word type) noexcept;
inline std::uint64_t bytesOf(const Elements& elements) noexcept {
  return elements.count == 0 ? 0 : elements.count * datatypeOf(elements.type).bytes;
}

// Prepares the known datatypes of the interface that was just chosen.
void prepareDatatypes() noexcept;

// Returns a record of a call as a message still to be filled in; by itself it stands for a call
// alone.
inline wire::Message messageOf(Interval call, std::uint32_t name) noexcept {
  wire::Message message{};
  message.beginTicks = call.beginTicks;
  message.endTicks = call.endTicks;
  message.name = name;
  return message;
}
// Call it for the call that moved the message, after `message` got its number, or if it gets none.
inline void endCrossing(const Crossing& crossing, wire::Message& message) noexcept {
  if (leave(crossing))
    message.header.detail |= wire::Message::kInexact;
}
inline void endCrossing(const Crossing& crossing, Request& request) noexcept {
  request.inexact |= leave(crossing);
}
inline void recordOne(const wire::Message& message, bool filled) noexcept {
  if (filled)
    gSession.hooks->message(message);
  else
    gSession.hooks->call(
        wire::SliceKind::Api, message.name, {message.beginTicks, message.endTicks});
}

// Shows the recorder a call that begins. Uses only its arguments, without asking MPI: they may be
// invalid, and MPI must be the one to report that.
OpenCall openMessage(const Envelope& envelope,
                     Way way,
                     std::uint32_t name,
                     std::uint64_t begin,
                     const void* frame) noexcept;
OpenCall openCollective(Word communicator,
                        wire::CollectiveOp op,
                        std::uint32_t name,
                        std::uint64_t begin,
                        const void* frame) noexcept;
OpenCall openWait(std::uint32_t name, std::uint64_t begin, const void* frame) noexcept;
inline void closeCall(OpenCall call) noexcept {
  if (call != kNotShown)
    gSession.hooks->returned(call);
}

// The message of a finished call. False: there is none, because the peer is MPI_PROC_NULL.
bool fillSent(wire::Message& message, const Envelope& to, std::uint64_t bytes) noexcept;
bool fillReceived(wire::Message& message, const Envelope& from, const void* status) noexcept;

// The message of a request. False: there is none, or it is not recorded.
bool postSend(Request& request, const Envelope& to, std::uint64_t bytes) noexcept;
bool postReceive(Request& request, const Envelope& from) noexcept;
// The sent and the received message of one call.
struct Exchange {
  Envelope to;
  std::uint64_t sent;  // bytes
  Envelope from;
  std::uint64_t room;  // for the received message
};
// Requires: request.begin.
bool postBoth(Request& request, const Exchange& exchange) noexcept;
// The crossing of a message's request that is about to start.
Crossing crossingOf(const Request& request) noexcept;
// The request starts, or starts again.
void start(Request& request) noexcept;
// The request has ended. `status`: of a receive.
void finish(const Request& request, const void* status, std::uint64_t endTicks) noexcept;
// A failed call may have moved a message: later numbers may be wrong.
void spoilNumbers(const Envelope& envelope, Way way) noexcept;
// The request is about to be cancelled, which may come too late.
void prepareToCancel(Request& request) noexcept;
// The end of the request is unknown and will not become known.
void giveUp(const Request& request) noexcept;

// Keeps a request that the program will wait for. `place`: where MPI has written its handle. A
// request that finished immediately has already ended.
void keepRequest(Word place, const Request& request, std::uint64_t end) noexcept;

// A collective's request starts; the call that starts it has returned.
void startCollective(Request& request, Interval call) noexcept;

// A message that MPI_Mprobe has found, until it is received. False: it has no sender.
bool postMatched(Request& request, const Envelope& from, const void* status) noexcept;
void keepMatched(Handle message, const Request& request) noexcept;
bool takeMatched(const RequestId& message, Request& request) noexcept;

// A status for calls where the program wants none.
struct Status {
  alignas(8) unsigned char bytes[kMaxStatusBytes];
};
inline Word wantStatus(Word given, Status& own) noexcept {
  return given == gSession.abi->ignoreStatus ? reinterpret_cast<Word>(&own) : given;
}

}  // namespace sonde::preload::mpi
