// Creation and destruction of communicators.
#include "collector/preload/mpi/interposer/mpi_messages.h"
#include "collector/preload/mpi/interposer/mpi_wrapper.h"

namespace sonde::preload::mpi {
namespace {

// `place`: where MPI has written the handle.
template <typename Call>
int making(Name& name, Word place, Call call) {
  const std::uint64_t begin = now();
  const int result = call();
  gSession.hooks->call(wire::SliceKind::Api, name(), {begin, now()});
  if (result == kSuccess)
    addCommunicator(gSession.abi->handleAt(place, 0));
  return result;
}

// MPI may not be asked about the communicator before its request has ended.
template <typename Call>
int makingLater(Name& name, Word parent, Word place, Word request, Call call) {
  const std::uint64_t begin = now();
  const int result = call();
  gSession.hooks->call(wire::SliceKind::Api, name(), {begin, now()});
  if (result != kSuccess)
    return result;
  const Communicator* const copied = communicatorOf(gSession.abi->handle(parent));
  Request made{};
  made.kind = RequestKind::Other;
  made.started = true;
  made.made = gSession.abi->handleAt(place, 0);
  made.place = copied == nullptr ? 0 : reserveCopy(*copied);
  const Handle handle = gSession.abi->handleAt(request, 0);
  if (gSession.abi->isShared(handle))
    addCommunicator(made.made, &made.place);
  else
    addRequest(handle, made);
  return result;
}

template <typename Real>
int ending(Real real, Name& name, Word place) {
  removeCommunicator(gSession.abi->handleAt(place, 0));
  const std::uint64_t begin = now();
  const int result = real(place);
  gSession.hooks->call(wire::SliceKind::Api, name(), {begin, now()});
  return result;
}

}  // namespace
}  // namespace sonde::preload::mpi

namespace mpi = sonde::preload::mpi;
using mpi::Name;
using mpi::Word;

// `made`: the parameter that receives the new handle.
#define SONDE_MPI_MAKING(name, parameters, arguments)                  \
  namespace {                                                          \
  template <typename Real>                                             \
  int make##name(Real real, Name& called, parameters) {                \
    return mpi::making(called, made, [&] { return real(arguments); }); \
  }                                                                    \
  }                                                                    \
  SONDE_MPI(name, SONDE_MPI_WORDS(parameters), SONDE_MPI_WORDS(arguments), make##name)
#define SONDE_MPI_MAKING_LATER(name, parameters, arguments)                                \
  namespace {                                                                              \
  template <typename Real>                                                                 \
  int make##name(Real real, Name& called, parameters) {                                    \
    return mpi::makingLater(called, comm, made, request, [&] { return real(arguments); }); \
  }                                                                                        \
  }                                                                                        \
  SONDE_MPI(name, SONDE_MPI_WORDS(parameters), SONDE_MPI_WORDS(arguments), make##name)

SONDE_MPI_MAKING(Comm_dup, SONDE_MPI_WORDS(Word comm, Word made), SONDE_MPI_WORDS(comm, made))
SONDE_MPI_MAKING(Comm_dup_with_info,
                 SONDE_MPI_WORDS(Word comm, Word info, Word made),
                 SONDE_MPI_WORDS(comm, info, made))
SONDE_MPI_MAKING_LATER(Comm_idup,
                       SONDE_MPI_WORDS(Word comm, Word made, Word request),
                       SONDE_MPI_WORDS(comm, made, request))
SONDE_MPI_MAKING_LATER(Comm_idup_with_info,
                       SONDE_MPI_WORDS(Word comm, Word info, Word made, Word request),
                       SONDE_MPI_WORDS(comm, info, made, request))
SONDE_MPI_MAKING(Comm_split,
                 SONDE_MPI_WORDS(Word comm, Word color, Word key, Word made),
                 SONDE_MPI_WORDS(comm, color, key, made))
SONDE_MPI_MAKING(Comm_split_type,
                 SONDE_MPI_WORDS(Word comm, Word kind, Word key, Word info, Word made),
                 SONDE_MPI_WORDS(comm, kind, key, info, made))
SONDE_MPI_MAKING(Comm_create,
                 SONDE_MPI_WORDS(Word comm, Word group, Word made),
                 SONDE_MPI_WORDS(comm, group, made))
SONDE_MPI_MAKING(Comm_create_group,
                 SONDE_MPI_WORDS(Word comm, Word group, Word tag, Word made),
                 SONDE_MPI_WORDS(comm, group, tag, made))
SONDE_MPI_MAKING(
    Cart_create,
    SONDE_MPI_WORDS(Word comm, Word axes, Word sizes, Word periods, Word reorder, Word made),
    SONDE_MPI_WORDS(comm, axes, sizes, periods, reorder, made))
SONDE_MPI_MAKING(Cart_sub,
                 SONDE_MPI_WORDS(Word comm, Word remaining, Word made),
                 SONDE_MPI_WORDS(comm, remaining, made))
SONDE_MPI_MAKING(
    Graph_create,
    SONDE_MPI_WORDS(Word comm, Word nodes, Word index, Word edges, Word reorder, Word made),
    SONDE_MPI_WORDS(comm, nodes, index, edges, reorder, made))
SONDE_MPI_MAKING(
    Dist_graph_create,
    SONDE_MPI_WORDS(Word comm,
                    Word count,
                    Word sources,
                    Word degrees,
                    Word destinations,
                    Word weights,
                    Word info,
                    Word reorder,
                    Word made),
    SONDE_MPI_WORDS(comm, count, sources, degrees, destinations, weights, info, reorder, made))
SONDE_MPI_MAKING(
    Dist_graph_create_adjacent,
    SONDE_MPI_WORDS(Word comm,
                    Word in,
                    Word sources,
                    Word sourceWeights,
                    Word out,
                    Word destinations,
                    Word weights,
                    Word info,
                    Word reorder,
                    Word made),
    SONDE_MPI_WORDS(
        comm, in, sources, sourceWeights, out, destinations, weights, info, reorder, made))
SONDE_MPI_MAKING(
    Intercomm_create,
    SONDE_MPI_WORDS(Word comm, Word leader, Word peers, Word remoteLeader, Word tag, Word made),
    SONDE_MPI_WORDS(comm, leader, peers, remoteLeader, tag, made))
SONDE_MPI_MAKING(Intercomm_merge,
                 SONDE_MPI_WORDS(Word comm, Word high, Word made),
                 SONDE_MPI_WORDS(comm, high, made))
SONDE_MPI_MAKING(Comm_spawn,
                 SONDE_MPI_WORDS(Word command,
                                 Word words,
                                 Word most,
                                 Word info,
                                 Word root,
                                 Word comm,
                                 Word made,
                                 Word codes),
                 SONDE_MPI_WORDS(command, words, most, info, root, comm, made, codes))
SONDE_MPI_MAKING(Comm_spawn_multiple,
                 SONDE_MPI_WORDS(Word count,
                                 Word commands,
                                 Word words,
                                 Word most,
                                 Word infos,
                                 Word root,
                                 Word comm,
                                 Word made,
                                 Word codes),
                 SONDE_MPI_WORDS(count, commands, words, most, infos, root, comm, made, codes))
SONDE_MPI_MAKING(Comm_join, SONDE_MPI_WORDS(Word socket, Word made), SONDE_MPI_WORDS(socket, made))
SONDE_MPI_MAKING(Comm_create_from_group,
                 SONDE_MPI_WORDS(Word group, Word name, Word info, Word handler, Word made),
                 SONDE_MPI_WORDS(group, name, info, handler, made))
SONDE_MPI_MAKING(Intercomm_create_from_groups,
                 SONDE_MPI_WORDS(Word group,
                                 Word leader,
                                 Word others,
                                 Word otherLeader,
                                 Word name,
                                 Word info,
                                 Word handler,
                                 Word made),
                 SONDE_MPI_WORDS(group, leader, others, otherLeader, name, info, handler, made))
SONDE_MPI_MAKING(Comm_accept,
                 SONDE_MPI_WORDS(Word port, Word info, Word root, Word comm, Word made),
                 SONDE_MPI_WORDS(port, info, root, comm, made))
SONDE_MPI_MAKING(Comm_connect,
                 SONDE_MPI_WORDS(Word port, Word info, Word root, Word comm, Word made),
                 SONDE_MPI_WORDS(port, info, root, comm, made))

SONDE_MPI(Comm_free, SONDE_MPI_WORDS(Word comm), SONDE_MPI_WORDS(comm), mpi::ending)
SONDE_MPI(Comm_disconnect, SONDE_MPI_WORDS(Word comm), SONDE_MPI_WORDS(comm), mpi::ending)
