// Records the collectives: each function, its nonblocking form (MPI_I…) and its persistent form
// (MPI_…_init, from MPI 4 on), with int counts and with large ones. Any thread. Requires:
// isActive().
#pragma once

#include "collector/preload/mpi/interposer/mpi_collectives.h"
#include "collector/preload/mpi/interposer/mpi_wrapper.h"

namespace sonde::preload::mpi {

// `facts(place)`: the facts from the arguments; `call()`: makes the call.
template <typename Facts, typename Call>
int blocking(Name& name, wire::CollectiveOp op, Word communicator, Facts facts, Call call) {
  wire::Collective record{};
  Place place{};
  record.beginTicks = now();
  const OpenCall open =
      openCollective(communicator, op, name(), record.beginTicks, __builtin_frame_address(0));
  const int result = call();
  closeCall(open);
  record.endTicks = now();
  if (result == kSuccess && numberCollective(record, communicator, place)) {
    describe(record, op, facts(place), name());
    gSession.hooks->collective(record);
  } else {  // the arguments may be invalid
    gSession.hooks->call(wire::SliceKind::Api, name(), {record.beginTicks, record.endTicks});
  }
  return result;
}

template <typename Facts, typename Call>
int nonblocking(
    Name& name, wire::CollectiveOp op, Word communicator, Word request, Facts facts, Call call) {
  Request made{};
  Place place{};
  wire::Collective& record = made.collective;
  record.beginTicks = now();
  const int result = call();
  record.endTicks = now();
  if (result != kSuccess || !numberCollective(record, communicator, place))
    return result;
  describe(record, op, facts(place), name());
  record.flags = wire::Collective::kEnqueued;
  record.number = nextCollective();
  made.recorded = gSession.hooks->collective(record);
  made.kind = RequestKind::Collective;
  made.started = true;
  keepRequest(request, made, record.endTicks);
  return result;
}

template <typename Facts, typename Call>
int persistent(
    Name& name, wire::CollectiveOp op, Word communicator, Word request, Facts facts, Call call) {
  Request made{};
  const std::uint64_t before = now();
  const int result = call();
  gSession.hooks->call(wire::SliceKind::Api, name(), {before, now()});
  Communicator* const found =
      result == kSuccess ? communicatorOf(gSession.abi->handle(communicator)) : nullptr;
  if (found == nullptr || found->id == 0)
    return result;
  wire::Collective& record = made.collective;
  record.header.subject = found->id;
  record.probe = wire::Probe::Mpi;
  record.peer = -1;
  describe(record, op, facts(placeIn(*found)), name());
  record.seq = found->seq.fetch_add(1, std::memory_order_relaxed);
  made.kind = RequestKind::Collective;
  made.communicator = found;
  made.persistent = true;
  keepRequest(request, made, 0);
  return result;
}

}  // namespace sonde::preload::mpi

// Defines a function, its nonblocking form and its persistent form, which Open MPI 4 calls
// MPIX_…_init, with one handler for each. `facts`: an expression of `at` (the caller's Place),
// `Count` and the parameters. `comm` must be one of the parameters. Requires: `mpi` means
// sonde::preload::mpi, whose Word and Name are visible.
#define SONDE_MPI_COLLECTIVE(name, nonblockingName, op, parameters, arguments, facts)          \
  namespace {                                                                                  \
  template <typename Count, typename Real>                                                     \
  int call##name(Real real, Name& called, parameters) {                                        \
    return mpi::blocking(                                                                      \
        called,                                                                                \
        op,                                                                                    \
        comm,                                                                                  \
        [&]([[maybe_unused]] const mpi::Place& at) { return facts; },                          \
        [&] { return real(arguments); });                                                      \
  }                                                                                            \
  template <typename Count, typename Real>                                                     \
  int start##name(Real real, Name& called, parameters, Word request) {                         \
    return mpi::nonblocking(                                                                   \
        called,                                                                                \
        op,                                                                                    \
        comm,                                                                                  \
        request,                                                                               \
        [&]([[maybe_unused]] const mpi::Place& at) { return facts; },                          \
        [&] { return real(arguments, request); });                                             \
  }                                                                                            \
  template <typename Count, typename Real>                                                     \
  int prepare##name(Real real, Name& called, parameters, Word info, Word request) {            \
    return mpi::persistent(                                                                    \
        called,                                                                                \
        op,                                                                                    \
        comm,                                                                                  \
        request,                                                                               \
        [&]([[maybe_unused]] const mpi::Place& at) { return facts; },                          \
        [&] { return real(arguments, info, request); });                                       \
  }                                                                                            \
  }                                                                                            \
  SONDE_MPI_COUNTED(name, SONDE_MPI_WORDS(parameters), SONDE_MPI_WORDS(arguments), call##name) \
  SONDE_MPI_COUNTED(nonblockingName,                                                           \
                    SONDE_MPI_WORDS(parameters, Word request),                                 \
                    SONDE_MPI_WORDS(arguments, request),                                       \
                    start##name)                                                               \
  SONDE_MPI_COUNTED(name##_init,                                                               \
                    SONDE_MPI_WORDS(parameters, Word info, Word request),                      \
                    SONDE_MPI_WORDS(arguments, info, request),                                 \
                    prepare##name)                                                             \
  SONDE_MPI_EXTENSION(name##_init,                                                             \
                      SONDE_MPI_WORDS(parameters, Word info, Word request),                    \
                      SONDE_MPI_WORDS(arguments, info, request),                               \
                      prepare##name<int>)

// For functions with these common parameters; `facts` is a function of them.
#define SONDE_MPI_OF_ALL(name, nonblockingName, op, facts)                                     \
  SONDE_MPI_COLLECTIVE(name,                                                                   \
                       nonblockingName,                                                        \
                       op,                                                                     \
                       SONDE_MPI_WORDS(Word send,                                              \
                                       Word sent,                                              \
                                       Word sendType,                                          \
                                       Word receive,                                           \
                                       Word got,                                               \
                                       Word receiveType,                                       \
                                       Word comm),                                             \
                       SONDE_MPI_WORDS(send, sent, sendType, receive, got, receiveType, comm), \
                       facts<Count>(at, send, sent, sendType, got, receiveType))
// With a count and a displacement for each peer to receive from …
#define SONDE_MPI_OF_ALL_V(name, nonblockingName, op, facts)                             \
  SONDE_MPI_COLLECTIVE(                                                                  \
      name,                                                                              \
      nonblockingName,                                                                   \
      op,                                                                                \
      SONDE_MPI_WORDS(Word send,                                                         \
                      Word sent,                                                         \
                      Word sendType,                                                     \
                      Word receive,                                                      \
                      Word counts,                                                       \
                      Word places,                                                       \
                      Word receiveType,                                                  \
                      Word comm),                                                        \
      SONDE_MPI_WORDS(send, sent, sendType, receive, counts, places, receiveType, comm), \
      facts<Count>(at, send, sent, sendType, counts, receiveType))
// … and for each peer to send to, perhaps with types for each, too.
#define SONDE_MPI_TO_ALL_V(name, nonblockingName, op, facts)                                      \
  SONDE_MPI_COLLECTIVE(                                                                           \
      name,                                                                                       \
      nonblockingName,                                                                            \
      op,                                                                                         \
      SONDE_MPI_WORDS(Word send,                                                                  \
                      Word sent,                                                                  \
                      Word sendPlaces,                                                            \
                      Word sendType,                                                              \
                      Word receive,                                                               \
                      Word got,                                                                   \
                      Word places,                                                                \
                      Word receiveType,                                                           \
                      Word comm),                                                                 \
      SONDE_MPI_WORDS(send, sent, sendPlaces, sendType, receive, got, places, receiveType, comm), \
      facts<Count>(at, send, sent, sendType, got, receiveType))
