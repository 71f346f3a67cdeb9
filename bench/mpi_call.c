// Measures the cost of MPI calls: mpi_call BURSTS CALLS, two ranks. Prints the median and the
// spread of the bursts for each operation, in ns per call, on rank 0. It rests between bursts, so
// that a recorder has time to read.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kMost = 1000 };
static int gRank;
static long gOut;
static long gIn;

static void sendReceive(void) {
  MPI_Sendrecv(&gOut,
               8,
               MPI_BYTE,
               1 - gRank,
               3,
               &gIn,
               8,
               MPI_BYTE,
               1 - gRank,
               3,
               MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

// Waits for no other rank: only the call itself remains.
static void sendReceiveAlone(void) {
  MPI_Sendrecv(&gOut, 8, MPI_BYTE, 0, 3, &gIn, 8, MPI_BYTE, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void pingPong(void) {
  if (gRank == 0) {
    MPI_Send(&gOut, 8, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
    MPI_Recv(&gIn, 8, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&gIn, 8, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&gOut, 8, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
  }
}

static void exchange(void) {
  MPI_Request requests[2];
  MPI_Irecv(&gIn, 8, MPI_BYTE, 1 - gRank, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&gOut, 8, MPI_BYTE, 1 - gRank, 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void allReduce(void) {
  MPI_Allreduce(&gOut, &gIn, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static void measure(const char* name, void (*call)(void), int bursts, int calls) {
  static double ns[kMost];
  for (int burst = 0; burst < bursts; ++burst) {
    usleep(2000);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int at = 0; at < 100; ++at)
      call();
    const double begin = MPI_Wtime();
    for (int at = 0; at < calls; ++at)
      call();
    ns[burst] = (MPI_Wtime() - begin) / calls * 1e9;
  }
  qsort(ns, (size_t)bursts, sizeof ns[0], compare);
  if (gRank == 0)
    printf(
        "%s %.1f %.1f %.1f\n", name, ns[bursts / 2], ns[bursts / 10], ns[bursts - 1 - bursts / 10]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &gRank);
  int bursts = argc > 1 ? atoi(argv[1]) : 100;
  const int calls = argc > 2 ? atoi(argv[2]) : 2000;
  if (bursts > kMost)
    bursts = kMost;
  measure("MPI_Sendrecv", sendReceive, bursts, calls);
  measure("MPI_Sendrecv(itself)", sendReceiveAlone, bursts, calls);
  measure("MPI_Send+MPI_Recv", pingPong, bursts, calls);
  measure("MPI_Irecv+MPI_Isend+MPI_Waitall", exchange, bursts, calls);
  measure("MPI_Allreduce", allReduce, bursts, calls);
  MPI_Finalize();
  return 0;
}
