// Calls that send one message and receive another.
#include "collector/preload/mpi/interposer/mpi_posting.h"
#include "collector/preload/mpi/interposer/mpi_wrapper.h"

namespace sonde::preload::mpi {
namespace {

struct Ends {
  Envelope to;
  Envelope from;
};
struct Crossings {
  Crossing sending;
  Crossing receiving;
};

// Records two messages, one of which stands for the call.
void record(const Ends& ends,
            const Crossings& crossings,
            std::uint64_t bytes,
            const void* status,
            wire::Message& sent) noexcept {
  wire::Message received = messageOf({sent.beginTicks, sent.endTicks}, 0);
  const bool hasSent = fillSent(sent, ends.to, bytes);
  endCrossing(crossings.sending, sent);
  const bool hasReceived = fillReceived(received, ends.from, status);
  endCrossing(crossings.receiving, received);
  if (hasSent && hasReceived)
    return gSession.hooks->messages(sent, received);
  if (hasReceived)
    received.name = sent.name;
  recordOne(hasReceived ? received : sent, hasSent || hasReceived);
}

// A failed call may have sent or received.
void recordFailed(const Ends& ends,
                  const Crossings& crossings,
                  const wire::Message& call) noexcept {
  leave(crossings.sending);
  leave(crossings.receiving);
  spoilNumbers(ends.to, Way::Send);
  spoilNumbers(ends.from, Way::Receive);
  recordOne(call, false);
}

// `bytes()`: number of bytes sent. `call(place)`: makes the call.
template <typename Bytes, typename Call>
[[gnu::always_inline]] inline int blocking(
    Name& name, const Ends& ends, Word status, Bytes bytes, Call call) {
  Status own;
  const Word used = wantStatus(status, own);
  const Crossings crossings{enterSend(ends.to), enterReceive(ends.from, Settled::Now)};
  const std::uint64_t begin = now();
  const OpenCall open =
      openMessage(ends.from, Way::Receive, name(), begin, __builtin_frame_address(0));
  const int result = call(used);
  closeCall(open);
  wire::Message sent = messageOf({begin, now()}, name());
  if (result == kSuccess)
    record(ends, crossings, bytes(), reinterpret_cast<const void*>(used), sent);
  else
    recordFailed(ends, crossings, sent);
  return result;
}

// `exchange()`: the call's arguments, which are valid only if the call succeeded.
template <typename What, typename Call>
int nonblocking(Name& name, Word request, const Ends& ends, What exchange, Call call) {
  const Crossing sending = enterSend(ends.to);
  const int result = posted(
      name,
      request,
      [&] { return enterReceive(ends.from, Settled::Later); },
      [&] { return call(request); },
      [&](Request& made) {
        const bool is = postBoth(made, exchange());
        if (made.sends)
          endCrossing(sending, made.sent);
        else
          made.crossing.crossed |= leave(sending);
        return is;
      });
  if (result != kSuccess)
    leave(sending);
  return result;
}

}  // namespace
}  // namespace sonde::preload::mpi

namespace mpi = sonde::preload::mpi;
using mpi::Name;
using mpi::Word;

namespace {
template <typename Count>
std::uint64_t bytesIn(Word count, Word type) noexcept {
  return mpi::bytesOf(mpi::elements<Count>(count, type));
}
}  // namespace

// `sent` and `room`: expressions of `Count` and the parameters, in bytes.
#define SONDE_MPI_EXCHANGE(name, nonblockingName, parameters, arguments, sent, room)               \
  namespace {                                                                                      \
  template <typename Count, typename Real>                                                         \
  [[gnu::always_inline]] inline int call##name(Real real, Name& called, parameters, Word status) { \
    return mpi::blocking(                                                                          \
        called,                                                                                    \
        {{comm, to, sendTag}, {comm, from, receiveTag}},                                           \
        status,                                                                                    \
        [&] { return sent; },                                                                      \
        [&](Word used) { return real(arguments, used); });                                         \
  }                                                                                                \
  template <typename Count, typename Real>                                                         \
  int start##name(Real real, Name& called, parameters, Word request) {                             \
    return mpi::nonblocking(                                                                       \
        called,                                                                                    \
        request,                                                                                   \
        {{comm, to, sendTag}, {comm, from, receiveTag}},                                           \
        [&] {                                                                                      \
          return mpi::Exchange{{comm, to, sendTag}, sent, {comm, from, receiveTag}, room};         \
        },                                                                                         \
        [&](Word made) { return real(arguments, made); });                                         \
  }                                                                                                \
  }                                                                                                \
  SONDE_MPI_COUNTED(name,                                                                          \
                    SONDE_MPI_WORDS(parameters, Word status),                                      \
                    SONDE_MPI_WORDS(arguments, status),                                            \
                    call##name)                                                                    \
  SONDE_MPI_COUNTED(nonblockingName,                                                               \
                    SONDE_MPI_WORDS(parameters, Word request),                                     \
                    SONDE_MPI_WORDS(arguments, request),                                           \
                    start##name)

SONDE_MPI_EXCHANGE(Sendrecv,
                   Isendrecv,
                   SONDE_MPI_WORDS(Word sendBuffer,
                                   Word sendCount,
                                   Word sendType,
                                   Word to,
                                   Word sendTag,
                                   Word receiveBuffer,
                                   Word receiveCount,
                                   Word receiveType,
                                   Word from,
                                   Word receiveTag,
                                   Word comm),
                   SONDE_MPI_WORDS(sendBuffer,
                                   sendCount,
                                   sendType,
                                   to,
                                   sendTag,
                                   receiveBuffer,
                                   receiveCount,
                                   receiveType,
                                   from,
                                   receiveTag,
                                   comm),
                   bytesIn<Count>(sendCount, sendType),
                   bytesIn<Count>(receiveCount, receiveType))
SONDE_MPI_EXCHANGE(Sendrecv_replace,
                   Isendrecv_replace,
                   SONDE_MPI_WORDS(Word buffer,
                                   Word count,
                                   Word type,
                                   Word to,
                                   Word sendTag,
                                   Word from,
                                   Word receiveTag,
                                   Word comm),
                   SONDE_MPI_WORDS(buffer, count, type, to, sendTag, from, receiveTag, comm),
                   bytesIn<Count>(count, type),
                   bytesIn<Count>(count, type))
