// Collectives in which each member exchanges data with its neighbours in the communicator's
// topology.
#include "collector/preload/mpi/interposer/mpi_collective_calls.h"
#include "collector/preload/mpi/interposer/mpi_neighbor_facts.h"

namespace mpi = sonde::preload::mpi;
using mpi::Name;
using mpi::Word;
using Op = sonde::wire::CollectiveOp;

SONDE_MPI_OF_ALL(Neighbor_allgather,
                 Ineighbor_allgather,
                 Op::NeighborAllgather,
                 mpi::factsOfNeighborAllgather)
SONDE_MPI_OF_ALL_V(Neighbor_allgatherv,
                   Ineighbor_allgatherv,
                   Op::NeighborAllgather,
                   mpi::factsOfNeighborAllgatherv)
SONDE_MPI_OF_ALL(Neighbor_alltoall,
                 Ineighbor_alltoall,
                 Op::NeighborAlltoall,
                 mpi::factsOfNeighborAlltoall)
SONDE_MPI_TO_ALL_V(Neighbor_alltoallv,
                   Ineighbor_alltoallv,
                   Op::NeighborAlltoall,
                   mpi::factsOfNeighborAlltoallv)
SONDE_MPI_TO_ALL_V(Neighbor_alltoallw,
                   Ineighbor_alltoallw,
                   Op::NeighborAlltoall,
                   mpi::factsOfNeighborAlltoallw)
