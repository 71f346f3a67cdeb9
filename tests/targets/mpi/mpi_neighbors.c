// Neighbourhood collectives with known expected records: mpi_neighbors PART.
#include "mpi_parts.h"

#if defined(OPEN_MPI) && MPI_VERSION < 4
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif

static int gIn[64];
static int gOut[64];
static const int kCounts[4] = {1, 2, 3, 4};
static const int kPlaces[4] = {0, 1, 3, 6};
static const MPI_Aint kAddresses[4] = {0, 4, 12, 24};

// A row of four that is not a ring: the first and the last have one neighbour.
static MPI_Comm row(void) {
  MPI_Comm made;
  const int closed = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &gSize, &closed, 0, &made);
  return made;
}

static void grid(void) {
  check(gSize == kRanks, "four ranks");
  MPI_Comm comm = row();
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Neighbor_allgather(gIn, 3, MPI_INT, gOut, 3, MPI_INT, comm);
  MPI_Neighbor_allgatherv(gIn, 2, MPI_INT, gOut, (int[]){2, 2}, kPlaces, MPI_INT, comm);
  MPI_Neighbor_alltoall(gIn, 5, MPI_FLOAT, gOut, 5, MPI_FLOAT, comm);
  MPI_Neighbor_alltoallv(
      gIn, (int[]){2, 1}, kPlaces, MPI_INT, gOut, kCounts, kPlaces, MPI_INT, comm);
  MPI_Neighbor_alltoallw(gIn,
                         (int[]){2, 1},
                         kAddresses,
                         (MPI_Datatype[]){MPI_DOUBLE, MPI_INT},
                         gOut,
                         kCounts,
                         kAddresses,
                         types,
                         comm);
  MPI_Comm_free(&comm);
}

// From every rank to the next one, and also from rank 0 to all.
static MPI_Comm graph(void) {
  MPI_Comm made;
  const int next = (gRank + 1) % gSize;
  const int sources[2] = {(gRank + gSize - 1) % gSize, 0};
  const int in = gRank > 1 ? 2 : 1;
  const int all[3] = {1, 2, 3};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD,
                                 in,
                                 sources,
                                 MPI_UNWEIGHTED,
                                 gRank == 0 ? kRanks - 1 : 1,
                                 gRank == 0 ? all : &next,
                                 MPI_UNWEIGHTED,
                                 MPI_INFO_NULL,
                                 0,
                                 &made);
  return made;
}

static void later(void) {
  MPI_Comm comm = graph();
  MPI_Request requests[5];
  static int out[5][64];
  const int ones[4] = {1, 1, 1, 1};
  const MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  for (int round = 0; round < 10; ++round) {
    MPI_Ineighbor_allgather(gIn, 3, MPI_INT, out[0], 3, MPI_INT, comm, &requests[0]);
    MPI_Ineighbor_allgatherv(
        gIn, 2, MPI_INT, out[1], (int[]){2, 2}, (int[]){0, 2}, MPI_INT, comm, &requests[1]);
    MPI_Ineighbor_alltoall(gIn, 4, MPI_FLOAT, out[2], 4, MPI_FLOAT, comm, &requests[2]);
    MPI_Ineighbor_alltoallv(
        gIn, ones, kPlaces, MPI_INT, out[3], ones, kPlaces, MPI_INT, comm, &requests[3]);
    MPI_Ineighbor_alltoallw(
        gIn, ones, kAddresses, types, out[4], ones, kAddresses, types, comm, &requests[4]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Comm_free(&comm);
}

static void again(void) {
  MPI_Comm comm = row();
  MPI_Request requests[3];
  static int out[3][64];
  INIT(Neighbor_allgather)(gIn, 3, MPI_INT, out[0], 3, MPI_INT, comm, MPI_INFO_NULL, &requests[0]);
  INIT(Neighbor_alltoall)(gIn, 5, MPI_INT, out[1], 5, MPI_INT, comm, MPI_INFO_NULL, &requests[1]);
  INIT(Allreduce)(gIn, out[2], 7, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[2]);
  for (int round = 0; round < 5; ++round) {
    MPI_Startall(3, requests);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  }
  for (int at = 0; at < 3; ++at)
    MPI_Request_free(&requests[at]);
  MPI_Comm_free(&comm);
}

// A graph without directions: a line, and one member without neighbours.
static void line(void) {
  MPI_Comm comm;
  const int index[4] = {1, 3, 4, 4};
  const int edges[4] = {1, 0, 2, 1};
  MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &comm);
  MPI_Neighbor_allgather(gIn, 3, MPI_INT, gOut, 3, MPI_INT, comm);
  MPI_Comm_free(&comm);
}

static const struct Part kParts[] = {
    {"grid", grid}, {"later", later}, {"again", again}, {"line", line}};

int main(int argc, char** argv) {
  return runPart(argc, argv, kParts, sizeof kParts / sizeof kParts[0]);
}
