// Collectives of all members of a communicator.
#include "collector/preload/mpi/interposer/mpi_collective_calls.h"

namespace mpi = sonde::preload::mpi;
using mpi::Name;
using mpi::Word;
using Op = sonde::wire::CollectiveOp;

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

SONDE_MPI_OF_ALL(Allgather, Iallgather, Op::Allgather, mpi::factsOfAllgather)
SONDE_MPI_OF_ALL(Alltoall, Ialltoall, Op::Alltoall, mpi::factsOfAlltoall)
SONDE_MPI_OF_ALL_V(Allgatherv, Iallgatherv, Op::Allgather, mpi::factsOfAllgatherv)
SONDE_MPI_TO_ALL_V(Alltoallv, Ialltoallv, Op::Alltoall, mpi::factsOfAlltoallv)
SONDE_MPI_TO_ALL_V(Alltoallw, Ialltoallw, Op::Alltoall, mpi::factsOfAlltoallw)
