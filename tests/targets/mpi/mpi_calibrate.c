/* Iterations of a ring in which requests last from one iteration to the next:
 *
 *   mpi_calibrate COUNT */
#include "plugins/api/sonde.h"

#include <mpi.h>
#include <stdlib.h>

enum { kMost = 4096 };

/* Message `number` has its own size, so that a wrong pair is noticed. */
static int bytesOf(int number) {
  return 8 * (number % 500 + 1);
}

int main(int argc, char** argv) {
  static char coming[2][kMost], going[2][kMost];
  MPI_Request received[2], sent[2];
  const int count = argc > 1 ? atoi(argv[1]) : 10;
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  MPI_Irecv(coming[0], bytesOf(0), MPI_CHAR, previous, 7, MPI_COMM_WORLD, &received[0]);
  MPI_Isend(going[0], bytesOf(0), MPI_CHAR, next, 7, MPI_COMM_WORLD, &sent[0]);
  for (int number = 0; number < count; ++number) {
    const int now = number % 2;
    const int then = 1 - now;
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "iteration");
    MPI_Irecv(
        coming[then], bytesOf(number + 1), MPI_CHAR, previous, 7, MPI_COMM_WORLD, &received[then]);
    MPI_Isend(going[then], bytesOf(number + 1), MPI_CHAR, next, 7, MPI_COMM_WORLD, &sent[then]);
    MPI_Wait(&received[now], MPI_STATUS_IGNORE);
    MPI_Wait(&sent[now], MPI_STATUS_IGNORE);
    double sum = number;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != (double)number * size)
      MPI_Abort(MPI_COMM_WORLD, 7);
    sonde_end(iteration);
  }
  MPI_Waitall(2, (MPI_Request[]){received[count % 2], sent[count % 2]}, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
