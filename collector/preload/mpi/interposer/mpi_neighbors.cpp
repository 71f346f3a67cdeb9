#include "collector/preload/mpi/interposer/mpi_neighbors.h"

#include "collector/preload/mpi/interposer/mpi_library.h"

namespace sonde::preload::mpi {
namespace {

constinit RealMpi<int (*)(Word, int*)> gTopology{"PMPI_Topo_test"};
constinit RealMpi<int (*)(Word, int*)> gDimensions{"PMPI_Cartdim_get"};
constinit RealMpi<int (*)(Word, int, int, int*, int*)> gShift{"PMPI_Cart_shift"};
constinit RealMpi<int (*)(Word, int, int*)> gOfGraph{"PMPI_Graph_neighbors_count"};
constinit RealMpi<int (*)(Word, int*, int*, int*)> gOfDistGraph{"PMPI_Dist_graph_neighbors_count"};

constexpr int kDistGraph = 3;  // MPI_DIST_GRAPH

// Two along each axis: the one below first.
Neighbors inGrid(Handle communicator) noexcept {
  Neighbors found;
  int axes = 0;
  if (!gDimensions.find(nullptr) || !gShift.find(nullptr) ||
      gDimensions()(communicator, &axes) != kSuccess)
    return found;
  found.in = found.out = 2 * axes;
  for (int axis = 0; axis < axes && 2 * axis + 1 < Neighbors::kMaxAbsent; ++axis) {
    int ranks[2] = {0, 0};
    if (gShift()(communicator, axis, 1, &ranks[0], &ranks[1]) != kSuccess)
      continue;
    for (int side = 0; side < 2; ++side)
      found.absent |= std::uint64_t{ranks[side] == gSession.abi->noProcess} << (2 * axis + side);
  }
  return found;
}

}  // namespace

Neighbors neighborsIn(Handle communicator, int rank) noexcept {
  int topology = kUndefined;
  if (!gTopology.find(nullptr) || gTopology()(communicator, &topology) != kSuccess)
    return {};
  if (topology == gSession.abi->cartTopology)
    return inGrid(communicator);
  Neighbors found;
  int weighted = 0;
  if (topology == gSession.abi->graphTopology && gOfGraph.find(nullptr)) {
    gOfGraph()(communicator, rank, &found.in);
    found.out = found.in;
  } else if (topology == kDistGraph && gOfDistGraph.find(nullptr)) {
    gOfDistGraph()(communicator, &found.in, &found.out, &weighted);
  }
  return found;
}

}  // namespace sonde::preload::mpi
