// From what a function of MPI was called with to messages: which channel, which number, how many
// bytes. Any thread. Requires throughout: isActive().
#pragma once

#include "collector/preload/mpi/interposer/mpi_communicators.h"
#include "collector/preload/mpi/interposer/mpi_crossings.h"
#include "collector/preload/mpi/interposer/mpi_library.h"
#include "collector/preload/mpi/interposer/mpi_requests.h"

namespace sonde::preload::mpi {

// Elements of a datatype. Of the parameters that are ints in C the upper half is undefined.
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

// The known datatypes, of the interface that has just been chosen.
void prepareDatatypes() noexcept;

// A call, as the message that it moved, which is `filled` in; else as a call alone.
inline wire::Message messageOf(Interval call, std::uint32_t name) noexcept {
  wire::Message message{};
  message.beginTicks = call.beginTicks;
  message.endTicks = call.endTicks;
  message.name = name;
  return message;
}
// Of the call that moved it; `message` has its number, or will have none.
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

// The recorder is shown a call that begins, as far as its arguments say what it is without a
// question to MPI: they may be wrong, and it is MPI's to say so.
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

// A finished call's message. False: there is none, because the peer is nobody.
bool fillSent(wire::Message& message, const Envelope& to, std::uint64_t bytes) noexcept;
bool fillReceived(wire::Message& message, const Envelope& from, const void* status) noexcept;

// A request's. False: none, or it is not to be recorded.
bool postSend(Request& request, const Envelope& to, std::uint64_t bytes) noexcept;
bool postReceive(Request& request, const Envelope& from) noexcept;
// What one call sends, and what it receives.
struct Exchange {
  Envelope to;
  std::uint64_t sent;  // bytes
  Envelope from;
  std::uint64_t room;  // for what is received
};
// Requires: request.begin.
bool postBoth(Request& request, const Exchange& exchange) noexcept;
// Of a message's request that is about to begin.
Crossing crossingOf(const Request& request) noexcept;
// It begins again, or for the first time.
void start(Request& request) noexcept;
// It has ended. `status`: of a receive.
void finish(const Request& request, const void* status, std::uint64_t endTicks) noexcept;
// A call that has failed may have moved a message: numbers from here on may be off.
void spoilNumbers(const Envelope& envelope, Way way) noexcept;
// It is about to be cancelled, which may come too late.
void prepareToCancel(Request& request) noexcept;
// It will not: nobody knows how it ended.
void giveUp(const Request& request) noexcept;

// Keeps what the program will wait for; `place`: where MPI has written its handle. What was done at
// once has ended already.
void keepRequest(Word place, const Request& request, std::uint64_t end) noexcept;

// A collective's request begins; the call that does so has returned.
void startCollective(Request& request, Interval call) noexcept;

// A message that MPI_Mprobe has found, until it is received. False: nobody has sent it.
bool postMatched(Request& request, const Envelope& from, const void* status) noexcept;
void keepMatched(Handle message, const Request& request) noexcept;
bool takeMatched(const RequestId& message, Request& request) noexcept;

// A place for a status where the program wants none.
struct Status {
  alignas(8) unsigned char bytes[kMaxStatusBytes];
};
inline Word wantStatus(Word given, Status& own) noexcept {
  return given == gSession.abi->ignoreStatus ? reinterpret_cast<Word>(&own) : given;
}

}  // namespace sonde::preload::mpi
