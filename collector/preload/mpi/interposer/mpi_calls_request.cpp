// The start of requests for messages.
#include "collector/preload/mpi/interposer/mpi_posting.h"
#include "collector/preload/mpi/interposer/mpi_wrapper.h"

namespace sonde::preload::mpi {
namespace {

Handle requestAt(Word place) noexcept {
  return gSession.abi->handleAt(place, 0);
}

template <typename Count, typename Real>
int startSend(Real real, Name& name, Word b, Word n, Word type, Word to, Word tag, Word c, Word r) {
  const Envelope envelope{c, to, tag};
  return posted(
      name,
      r,
      [&] { return enterSend(envelope); },
      [&] { return real(b, n, type, to, tag, c, r); },
      [&](Request& made) { return postSend(made, envelope, bytesOf(elements<Count>(n, type))); });
}
template <typename Count, typename Real>
int prepareSend(
    Real real, Name& name, Word b, Word n, Word type, Word to, Word tag, Word c, Word r) {
  return prepared(
      name,
      r,
      [&] { return real(b, n, type, to, tag, c, r); },
      [&](Request& made) {
        return postSend(made, {c, to, tag}, bytesOf(elements<Count>(n, type)));
      });
}

template <typename Count, typename Real>
int startReceive(
    Real real, Name& name, Word b, Word n, Word type, Word from, Word tag, Word c, Word r) {
  const Envelope envelope{c, from, tag};
  return posted(
      name,
      r,
      [&] { return enterReceive(envelope, Settled::Later); },
      [&] { return real(b, n, type, from, tag, c, r); },
      [&](Request& made) { return postReceive(made, envelope); });
}
template <typename Count, typename Real>
int prepareReceive(
    Real real, Name& name, Word b, Word n, Word type, Word from, Word tag, Word c, Word r) {
  return prepared(
      name,
      r,
      [&] { return real(b, n, type, from, tag, c, r); },
      [&](Request& made) {
        return postReceive(made, {c, from, tag});
      });
}

// A persistent request is about to start again, and has started unless `result` reports an error.
void prepareToStart(Handle handle) noexcept {
  if (!gSession.manyThreads)
    return;
  if (Request* const request = findRequest(requestOf(handle)); request != nullptr)
    request->crossing = crossingOf(*request);
}
void startAgain(Handle handle, int result, Interval call) noexcept {
  Request* const request = findRequest(requestOf(handle));
  if (request == nullptr)
    return;
  if (result == kSuccess) {
    request->begin = call.beginTicks;
    start(*request);
  }
  endCrossing(request->crossing, *request);
  if (result == kSuccess && request->kind == RequestKind::Collective)
    startCollective(*request, call);
}

// The handle does not change.
template <typename Real>
int startOne(Real real, Name& name, Word place) {
  const Handle handle = requestAt(place);
  prepareToStart(handle);
  const std::uint64_t begin = now();
  const int result = real(place);
  const std::uint64_t end = now();
  recordPost(name, begin, end);
  startAgain(handle, result, {begin, end});
  return result;
}

template <typename Real>
int startAll(Real real, Name& name, Word count, Word places) {
  for (int at = 0; at < intOf(count); ++at)
    prepareToStart(gSession.abi->handleAt(places, static_cast<std::size_t>(at)));
  const std::uint64_t begin = now();
  const int result = real(count, places);
  const std::uint64_t end = now();
  recordPost(name, begin, end);
  for (int at = 0; at < intOf(count); ++at)
    startAgain(gSession.abi->handleAt(places, static_cast<std::size_t>(at)), result, {begin, end});
  return result;
}

// A message that a probe has matched: the number that it got, until it is received.
template <typename Real>
int matchedProbe(Real real,
                 Name& name,
                 Word peer,
                 Word tag,
                 Word communicator,
                 Word flag,
                 Word message,
                 Word status) {
  Status own;
  const Word used = wantStatus(status, own);
  const Envelope from{communicator, peer, tag};
  Request request{};
  request.crossing = enterReceive(from, Settled::Later);
  request.begin = now();
  const OpenCall open =
      flag != 0
          ? kNotShown
          : openMessage(from, Way::Receive, name(), request.begin, __builtin_frame_address(0));
  const int result = real(peer, tag, communicator, flag, message, used);
  closeCall(open);
  const int* const found = reinterpret_cast<const int*>(flag);
  const bool isFound = result == kSuccess && (found == nullptr || *found != 0);
  const bool is = isFound && requestAt(message) != gSession.abi->noProcessMessage &&
                  postMatched(request, from, reinterpret_cast<const void*>(used));
  endCrossing(request.crossing, request);
  if (isFound)
    gSession.hooks->call(wire::SliceKind::Wait, name(), {request.begin, now()});
  if (is)
    keepMatched(requestAt(message), request);
  return result;
}

template <typename Real>
int improbe(Real real, Name& name, Word peer, Word tag, Word comm, Word flag, Word m, Word status) {
  return matchedProbe(real, name, peer, tag, comm, flag, m, status);
}

template <typename Real>
int mprobe(Real real, Name& name, Word peer, Word tag, Word comm, Word message, Word status) {
  const auto call = [&](Word p, Word t, Word c, Word, Word m, Word s) {
    return real(p, t, c, m, s);
  };
  return matchedProbe(call, name, peer, tag, comm, 0, message, status);
}

template <typename Count, typename Real>
int matchedReceive(
    Real real, Name& name, Word buffer, Word count, Word type, Word message, Word status) {
  const RequestId matched = requestOf(requestAt(message));
  Status own;
  const Word used = wantStatus(status, own);
  const std::uint64_t begin = now();
  const int result = real(buffer, count, type, message, used);
  const std::uint64_t end = now();
  gSession.hooks->call(wire::SliceKind::Api, name(), {begin, end});
  Request request{};
  if (!takeMatched(matched, request) || result != kSuccess)
    return result;
  finish(request, reinterpret_cast<const void*>(used), end);
  return result;
}

template <typename Count, typename Real>
int startMatchedReceive(
    Real real, Name& name, Word buffer, Word count, Word type, Word message, Word place) {
  const RequestId matched = requestOf(requestAt(message));
  const std::uint64_t begin = now();
  const int result = real(buffer, count, type, message, place);
  const std::uint64_t end = now();
  recordPost(name, begin, end);
  Request request{};
  if (!takeMatched(matched, request) || result != kSuccess)
    return result;
  request.started = true;
  keepRequest(place, request, end);
  return result;
}

template <typename Real>
int probe(Real real, Name& name, Word peer, Word tag, Word communicator, Word status) {
  const std::uint64_t begin = now();
  const OpenCall open = openMessage(
      {communicator, peer, tag}, Way::Receive, name(), begin, __builtin_frame_address(0));
  const int result = real(peer, tag, communicator, status);
  closeCall(open);
  gSession.hooks->call(wire::SliceKind::Wait, name(), {begin, now()});
  return result;
}

}  // namespace
}  // namespace sonde::preload::mpi

namespace mpi = sonde::preload::mpi;
using mpi::Word;

#define SONDE_MPI_POST(name, handler)                                                        \
  SONDE_MPI_COUNTED(                                                                         \
      name,                                                                                  \
      SONDE_MPI_WORDS(                                                                       \
          Word buffer, Word count, Word type, Word peer, Word tag, Word comm, Word request), \
      SONDE_MPI_WORDS(buffer, count, type, peer, tag, comm, request),                        \
      handler)
SONDE_MPI_POST(Isend, mpi::startSend)
SONDE_MPI_POST(Ibsend, mpi::startSend)
SONDE_MPI_POST(Irsend, mpi::startSend)
SONDE_MPI_POST(Issend, mpi::startSend)
SONDE_MPI_POST(Send_init, mpi::prepareSend)
SONDE_MPI_POST(Bsend_init, mpi::prepareSend)
SONDE_MPI_POST(Rsend_init, mpi::prepareSend)
SONDE_MPI_POST(Ssend_init, mpi::prepareSend)
SONDE_MPI_POST(Irecv, mpi::startReceive)
SONDE_MPI_POST(Recv_init, mpi::prepareReceive)

SONDE_MPI(Start, SONDE_MPI_WORDS(Word request), SONDE_MPI_WORDS(request), mpi::startOne)
SONDE_MPI(Startall,
          SONDE_MPI_WORDS(Word count, Word requests),
          SONDE_MPI_WORDS(count, requests),
          mpi::startAll)

SONDE_MPI(Probe,
          SONDE_MPI_WORDS(Word peer, Word tag, Word comm, Word status),
          SONDE_MPI_WORDS(peer, tag, comm, status),
          mpi::probe)
SONDE_MPI(Mprobe,
          SONDE_MPI_WORDS(Word peer, Word tag, Word comm, Word message, Word status),
          SONDE_MPI_WORDS(peer, tag, comm, message, status),
          mpi::mprobe)
SONDE_MPI(Improbe,
          SONDE_MPI_WORDS(Word peer, Word tag, Word comm, Word flag, Word message, Word status),
          SONDE_MPI_WORDS(peer, tag, comm, flag, message, status),
          mpi::improbe)
SONDE_MPI_COUNTED(Mrecv,
                  SONDE_MPI_WORDS(Word buffer, Word count, Word type, Word message, Word status),
                  SONDE_MPI_WORDS(buffer, count, type, message, status),
                  mpi::matchedReceive)
SONDE_MPI_COUNTED(Imrecv,
                  SONDE_MPI_WORDS(Word buffer, Word count, Word type, Word message, Word request),
                  SONDE_MPI_WORDS(buffer, count, type, message, request),
                  mpi::startMatchedReceive)
