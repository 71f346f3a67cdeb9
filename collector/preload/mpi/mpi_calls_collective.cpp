// Collectives: each function, its nonblocking form (MPI_I…) and its persistent one (MPI_…_init,
// from MPI 4 on), with int counts and with large ones.
#include "collector/preload/mpi/mpi_collectives.h"
#include "collector/preload/mpi/mpi_wrapper.h"

namespace sonde::preload::mpi {
namespace {

using wire::CollectiveOp;

constinit std::atomic<std::uint64_t> gNumber{1};  // of the next collective whose end is told later

// Its number among the collectives of the communicator; false: it cannot be recorded. After the
// call: whether there is such a communicator is MPI's to say.
bool count(wire::Collective& record, Word communicator, Place& place) noexcept {
  Communicator* const found = communicatorOf(gSession.abi->handle(communicator));
  if (found == nullptr || found->id == 0) {
    gSession.hooks->lose(wire::RecordKind::Collective, wire::LossReason::Definitions, 1);
    return false;
  }
  place = {found->rank, found->peers, found->inter};
  record.header.subject = found->id;
  record.seq = found->seq.fetch_add(1, std::memory_order_relaxed);
  record.probe = wire::Probe::Mpi;
  record.peer = -1;
  return true;
}

void describe(wire::Collective& record,
              CollectiveOp op,
              const CollectiveFacts& facts,
              std::uint32_t name) noexcept {
  record.header.detail = static_cast<std::uint8_t>(op);
  record.bytes = facts.amounts.bytes;
  record.sendBytes = facts.amounts.send;
  record.recvBytes = facts.amounts.receive;
  record.root = facts.root < 0 ? -1 : facts.root;
  record.dtype = facts.type == 0 ? wire::DataType::Unknown : datatypeOf(facts.type).type;
  record.name = name;
}

// `facts(place)`: what was called; `call()`: the call.
template <typename Facts, typename Call>
int blocking(Name& name, CollectiveOp op, Word communicator, Facts facts, Call call) {
  wire::Collective record{};
  Place place{};
  record.beginTicks = now();
  const int result = call();
  record.endTicks = now();
  if (result == kSuccess && count(record, communicator, place)) {
    describe(record, op, facts(place), name());
    gSession.hooks->collective(record);
  } else {  // what it was called with may mean nothing
    gSession.hooks->call(wire::SliceKind::Api, name(), {record.beginTicks, record.endTicks});
  }
  return result;
}

template <typename Facts, typename Call>
int nonblocking(
    Name& name, CollectiveOp op, Word communicator, Word request, Facts facts, Call call) {
  Request made{};
  Place place{};
  wire::Collective& record = made.collective;
  record.beginTicks = now();
  const int result = call();
  record.endTicks = now();
  if (result != kSuccess || !count(record, communicator, place))
    return result;
  describe(record, op, facts(place), name());
  record.flags = wire::Collective::kEnqueued;
  record.number = gNumber.fetch_add(1, std::memory_order_relaxed);
  made.recorded = gSession.hooks->collective(record);
  made.kind = RequestKind::Collective;
  made.started = true;
  keepRequest(request, made, record.endTicks);
  return result;
}

template <typename Facts, typename Call>
int persistent(
    Name& name, CollectiveOp op, Word communicator, Word request, Facts facts, Call call) {
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
  describe(record, op, facts(Place{found->rank, found->peers, found->inter}), name());
  made.kind = RequestKind::Collective;
  made.communicator = found;
  made.persistent = true;
  keepRequest(request, made, 0);
  return result;
}

}  // namespace

void startCollective(Request& request, Interval call) noexcept {
  wire::Collective& record = request.collective;
  record.seq = request.communicator->seq.fetch_add(1, std::memory_order_relaxed);
  record.beginTicks = call.beginTicks;
  record.endTicks = call.endTicks;
  record.flags = wire::Collective::kEnqueued;
  record.number = gNumber.fetch_add(1, std::memory_order_relaxed);
  request.recorded = gSession.hooks->collective(record);
}

}  // namespace sonde::preload::mpi

namespace mpi = sonde::preload::mpi;
using mpi::Name;
using mpi::Place;
using mpi::Word;
using Op = sonde::wire::CollectiveOp;

// One handler for each form. `facts` is an expression of `at`, the caller's Place, `Count` and the
// parameters; `comm` is one of these.
#define SONDE_MPI_COLLECTIVE(name, nonblockingName, op, parameters, arguments, facts)          \
  namespace {                                                                                  \
  template <typename Count, typename Real>                                                     \
  int call##name(Real real, Name& called, parameters) {                                        \
    return mpi::blocking(                                                                      \
        called,                                                                                \
        op,                                                                                    \
        comm,                                                                                  \
        [&]([[maybe_unused]] const Place& at) { return facts; },                               \
        [&] { return real(arguments); });                                                      \
  }                                                                                            \
  template <typename Count, typename Real>                                                     \
  int start##name(Real real, Name& called, parameters, Word request) {                         \
    return mpi::nonblocking(                                                                   \
        called,                                                                                \
        op,                                                                                    \
        comm,                                                                                  \
        request,                                                                               \
        [&]([[maybe_unused]] const Place& at) { return facts; },                               \
        [&] { return real(arguments, request); });                                             \
  }                                                                                            \
  template <typename Count, typename Real>                                                     \
  int prepare##name(Real real, Name& called, parameters, Word info, Word request) {            \
    return mpi::persistent(                                                                    \
        called,                                                                                \
        op,                                                                                    \
        comm,                                                                                  \
        request,                                                                               \
        [&]([[maybe_unused]] const Place& at) { return facts; },                               \
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
                    prepare##name)

SONDE_MPI_COLLECTIVE(Barrier,
                     Ibarrier,
                     Op::Barrier,
                     SONDE_MPI_WORDS(Word comm),
                     SONDE_MPI_WORDS(comm),
                     mpi::factsOfBarrier())
SONDE_MPI_COLLECTIVE(Bcast,
                     Ibcast,
                     Op::Broadcast,
                     SONDE_MPI_WORDS(Word buffer, Word count, Word type, Word root, Word comm),
                     SONDE_MPI_WORDS(buffer, count, type, root, comm),
                     mpi::factsOfBcast<Count>(at, count, type, root))
SONDE_MPI_COLLECTIVE(
    Reduce,
    Ireduce,
    Op::Reduce,
    SONDE_MPI_WORDS(Word send, Word receive, Word count, Word type, Word op, Word root, Word comm),
    SONDE_MPI_WORDS(send, receive, count, type, op, root, comm),
    mpi::factsOfReduce<Count>(at, count, type, mpi::intOf(root)))

#define SONDE_MPI_REDUCING(name, nonblockingName, op_)                                     \
  SONDE_MPI_COLLECTIVE(                                                                    \
      name,                                                                                \
      nonblockingName,                                                                     \
      op_,                                                                                 \
      SONDE_MPI_WORDS(Word send, Word receive, Word count, Word type, Word op, Word comm), \
      SONDE_MPI_WORDS(send, receive, count, type, op, comm),                               \
      mpi::factsOfReduce<Count>(at, count, type, -1))
SONDE_MPI_REDUCING(Allreduce, Iallreduce, Op::Allreduce)
SONDE_MPI_REDUCING(Scan, Iscan, Op::Scan)
SONDE_MPI_REDUCING(Exscan, Iexscan, Op::Exscan)

SONDE_MPI_COLLECTIVE(
    Reduce_scatter,
    Ireduce_scatter,
    Op::ReduceScatter,
    SONDE_MPI_WORDS(Word send, Word receive, Word counts, Word type, Word op, Word comm),
    SONDE_MPI_WORDS(send, receive, counts, type, op, comm),
    mpi::factsOfReduceScatter<Count>(at, counts, type))
SONDE_MPI_COLLECTIVE(
    Reduce_scatter_block,
    Ireduce_scatter_block,
    Op::ReduceScatter,
    SONDE_MPI_WORDS(Word send, Word receive, Word count, Word type, Word op, Word comm),
    SONDE_MPI_WORDS(send, receive, count, type, op, comm),
    mpi::factsOfReduceScatterBlock<Count>(at, count, type))

#define SONDE_MPI_ROOTED(name, nonblockingName, op, facts)                          \
  SONDE_MPI_COLLECTIVE(                                                             \
      name,                                                                         \
      nonblockingName,                                                              \
      op,                                                                           \
      SONDE_MPI_WORDS(Word send,                                                    \
                      Word sent,                                                    \
                      Word sendType,                                                \
                      Word receive,                                                 \
                      Word got,                                                     \
                      Word receiveType,                                             \
                      Word root,                                                    \
                      Word comm),                                                   \
      SONDE_MPI_WORDS(send, sent, sendType, receive, got, receiveType, root, comm), \
      facts)
SONDE_MPI_ROOTED(
    Gather,
    Igather,
    Op::Gather,
    mpi::factsOfGather<Count>(at, send, sent, sendType, got, receiveType, mpi::intOf(root)))
SONDE_MPI_ROOTED(Scatter,
                 Iscatter,
                 Op::Scatter,
                 mpi::turned(mpi::factsOfGather<Count>(
                     at, receive, got, receiveType, sent, sendType, mpi::intOf(root))))
SONDE_MPI_COLLECTIVE(
    Gatherv,
    Igatherv,
    Op::Gather,
    SONDE_MPI_WORDS(Word send,
                    Word sent,
                    Word sendType,
                    Word receive,
                    Word counts,
                    Word places,
                    Word receiveType,
                    Word root,
                    Word comm),
    SONDE_MPI_WORDS(send, sent, sendType, receive, counts, places, receiveType, root, comm),
    mpi::factsOfGatherv<Count>(at, send, sent, sendType, counts, receiveType, mpi::intOf(root)))
SONDE_MPI_COLLECTIVE(
    Scatterv,
    Iscatterv,
    Op::Scatter,
    SONDE_MPI_WORDS(Word send,
                    Word counts,
                    Word places,
                    Word sendType,
                    Word receive,
                    Word got,
                    Word receiveType,
                    Word root,
                    Word comm),
    SONDE_MPI_WORDS(send, counts, places, sendType, receive, got, receiveType, root, comm),
    mpi::turned(mpi::factsOfGatherv<Count>(
        at, receive, got, receiveType, counts, sendType, mpi::intOf(root))))

#define SONDE_MPI_ALL(name, nonblockingName, op, facts)                                        \
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
SONDE_MPI_ALL(Allgather, Iallgather, Op::Allgather, mpi::factsOfAllgather)
SONDE_MPI_ALL(Alltoall, Ialltoall, Op::Alltoall, mpi::factsOfAlltoall)

SONDE_MPI_COLLECTIVE(
    Allgatherv,
    Iallgatherv,
    Op::Allgather,
    SONDE_MPI_WORDS(Word send,
                    Word sent,
                    Word sendType,
                    Word receive,
                    Word counts,
                    Word places,
                    Word receiveType,
                    Word comm),
    SONDE_MPI_WORDS(send, sent, sendType, receive, counts, places, receiveType, comm),
    mpi::factsOfAllgatherv<Count>(at, send, sent, sendType, counts, receiveType))

#define SONDE_MPI_EXCHANGE(name, nonblockingName, facts)                                          \
  SONDE_MPI_COLLECTIVE(                                                                           \
      name,                                                                                       \
      nonblockingName,                                                                            \
      Op::Alltoall,                                                                               \
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
SONDE_MPI_EXCHANGE(Alltoallv, Ialltoallv, mpi::factsOfAlltoallv)
SONDE_MPI_EXCHANGE(Alltoallw, Ialltoallw, mpi::factsOfAlltoallw)
