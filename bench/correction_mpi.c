/* A halo exchange of two ranks: correction_mpi ITERATIONS. Rank 0 prints "mean NS" of an iteration.
 * bench/correction_accuracy.py runs it with Sonde and without. */
#include "bench/iteration_stamps.h"
#include "plugins/api/sonde.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCells = 4096, kHalo = 512 };
static double gCells[kCells + 2 * kHalo];

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
  struct IterationStamps stamps = stampsFor(iterations);
  const sonde_scope phase = sonde_begin(SONDE_PHASE, "loop");
  for (int number = 0; number < iterations; ++number) {
    stampsBegin(&stamps);
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "iteration");
    for (int step = 0; step < 40; ++step) {
      relax();
      exchange(1 - rank);
    }
    double sum = gCells[kHalo];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sonde_end(iteration);
    stampsEnd(&stamps);
  }
  sonde_end(phase);
  if (rank == 0) {
    stampsWrite(&stamps);
    printf("mean %.0f\n", stampsMean(&stamps));
  }
  MPI_Finalize();
  return 0;
}
