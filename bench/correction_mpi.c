/* A halo exchange of two ranks: correction_mpi ITERATIONS. Rank 0 prints "mean NS" of an iteration.
 * bench/correction_accuracy.py runs it with Sonde and without. */
#include "plugins/api/sonde.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kCells = 4096, kHalo = 512 };
static double gCells[kCells + 2 * kHalo];

static double nowNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void relax(void) {
  for (int cell = kHalo; cell < kHalo + kCells; ++cell)
    gCells[cell] = 0.25 * gCells[cell - 1] + 0.5 * gCells[cell] + 0.25 * gCells[cell + 1];
}

static void exchange(int other) {
  MPI_Request requests[4];
  MPI_Irecv(gCells, kHalo, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(gCells + kHalo + kCells, kHalo, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(gCells + kCells, kHalo, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(gCells + kHalo, kHalo, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int iterations = count > 1 ? atoi(arguments[1]) : 500;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = nowNs();
  const sonde_scope phase = sonde_begin(SONDE_PHASE, "loop");
  for (int number = 0; number < iterations; ++number) {
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "iteration");
    for (int step = 0; step < 40; ++step) {
      relax();
      exchange(1 - rank);
    }
    double sum = gCells[kHalo];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sonde_end(iteration);
  }
  sonde_end(phase);
  if (rank == 0)
    printf("mean %.0f\n", (nowNs() - begin) / iterations);
  MPI_Finalize();
  return 0;
}
