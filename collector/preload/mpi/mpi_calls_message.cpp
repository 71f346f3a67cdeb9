// Messages that are sent and received while the program waits.
#include "collector/preload/mpi/mpi_messages.h"
#include "collector/preload/mpi/mpi_wrapper.h"

namespace sonde::preload::mpi {
namespace {

wire::Message messageOf(std::uint64_t begin, std::uint64_t end, std::uint32_t name) noexcept {
  wire::Message message{};
  message.beginTicks = begin;
  message.endTicks = end;
  message.name = name;
  return message;
}

void recordOne(wire::Message& message, bool filled) noexcept {
  if (filled)
    gSession.hooks->message(message);
  else
    gSession.hooks->call(
        wire::SliceKind::Api, message.name, {message.beginTicks, message.endTicks});
}

template <typename Count, typename Real>
int send(Real real,
         Name& name,
         Word buffer,
         Word count,
         Word type,
         Word peer,
         Word tag,
         Word communicator) {
  const std::uint64_t begin = now();
  const int result = real(buffer, count, type, peer, tag, communicator);
  wire::Message message = messageOf(begin, now(), name());
  recordOne(
      message,
      result == kSuccess &&
          fillSent(message, {communicator, peer, tag}, bytesOf(elements<Count>(count, type))));
  return result;
}

template <typename Count, typename Real>
int receive(Real real,
            Name& name,
            Word buffer,
            Word count,
            Word type,
            Word peer,
            Word tag,
            Word communicator,
            Word status) {
  Status own;
  const Word used = wantStatus(status, own);
  const std::uint64_t begin = now();
  const int result = real(buffer, count, type, peer, tag, communicator, used);
  wire::Message message = messageOf(begin, now(), name());
  if (result != kSuccess)
    failReceive({communicator, peer, tag});
  recordOne(
      message,
      result == kSuccess &&
          fillReceived(message, {communicator, peer, tag}, reinterpret_cast<const void*>(used)));
  return result;
}

// What one call sent and received, as two messages of which one is the call.
void recordBoth(const Envelope& to,
                std::uint64_t bytes,
                const Envelope& from,
                Word status,
                wire::Message& sent) noexcept {
  wire::Message received = messageOf(sent.beginTicks, sent.endTicks, 0);
  const bool hasSent = fillSent(sent, to, bytes);
  const bool hasReceived = fillReceived(received, from, reinterpret_cast<const void*>(status));
  if (hasSent && hasReceived)
    return gSession.hooks->messages(sent, received);
  if (hasReceived)
    received.name = sent.name;
  recordOne(hasReceived ? received : sent, hasSent || hasReceived);
}

template <typename Count, typename Real>
int sendReceive(Real real,
                Name& name,
                Word sendBuffer,
                Word sendCount,
                Word sendType,
                Word to,
                Word sendTag,
                Word receiveBuffer,
                Word receiveCount,
                Word receiveType,
                Word from,
                Word receiveTag,
                Word communicator,
                Word status) {
  Status own;
  const Word used = wantStatus(status, own);
  const std::uint64_t begin = now();
  const int result = real(sendBuffer,
                          sendCount,
                          sendType,
                          to,
                          sendTag,
                          receiveBuffer,
                          receiveCount,
                          receiveType,
                          from,
                          receiveTag,
                          communicator,
                          used);
  wire::Message sent = messageOf(begin, now(), name());
  if (result != kSuccess)
    recordOne(sent, false);
  else
    recordBoth({communicator, to, sendTag},
               bytesOf(elements<Count>(sendCount, sendType)),
               {communicator, from, receiveTag},
               used,
               sent);
  return result;
}

template <typename Count, typename Real>
int sendReceiveReplace(Real real,
                       Name& name,
                       Word buffer,
                       Word count,
                       Word type,
                       Word to,
                       Word sendTag,
                       Word from,
                       Word receiveTag,
                       Word communicator,
                       Word status) {
  Status own;
  const Word used = wantStatus(status, own);
  const std::uint64_t begin = now();
  const int result = real(buffer, count, type, to, sendTag, from, receiveTag, communicator, used);
  wire::Message sent = messageOf(begin, now(), name());
  if (result != kSuccess)
    recordOne(sent, false);
  else
    recordBoth({communicator, to, sendTag},
               bytesOf(elements<Count>(count, type)),
               {communicator, from, receiveTag},
               used,
               sent);
  return result;
}

}  // namespace
}  // namespace sonde::preload::mpi

namespace mpi = sonde::preload::mpi;
using mpi::Word;

#define SONDE_MPI_SEND(name)                                                               \
  SONDE_MPI_COUNTED(                                                                       \
      name,                                                                                \
      SONDE_MPI_WORDS(Word buffer, Word count, Word type, Word peer, Word tag, Word comm), \
      SONDE_MPI_WORDS(buffer, count, type, peer, tag, comm),                               \
      mpi::send)
SONDE_MPI_SEND(Send)
SONDE_MPI_SEND(Bsend)
SONDE_MPI_SEND(Rsend)
SONDE_MPI_SEND(Ssend)

SONDE_MPI_COUNTED(
    Recv,
    SONDE_MPI_WORDS(
        Word buffer, Word count, Word type, Word peer, Word tag, Word comm, Word status),
    SONDE_MPI_WORDS(buffer, count, type, peer, tag, comm, status),
    mpi::receive)
SONDE_MPI_COUNTED(Sendrecv,
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
                                  Word comm,
                                  Word status),
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
                                  comm,
                                  status),
                  mpi::sendReceive)
SONDE_MPI_COUNTED(Sendrecv_replace,
                  SONDE_MPI_WORDS(Word buffer,
                                  Word count,
                                  Word type,
                                  Word to,
                                  Word sendTag,
                                  Word from,
                                  Word receiveTag,
                                  Word comm,
                                  Word status),
                  SONDE_MPI_WORDS(buffer, count, type, to, sendTag, from, receiveTag, comm, status),
                  mpi::sendReceiveReplace)
