// A program with several parts, of which one is run: PROGRAM PART. Four ranks, unless a part's
// comment differs.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kRanks = 4 };
static int gRank;
static int gSize;

static void check(int holds, const char* what) {
  if (holds)
    return;
  fprintf(stderr, "rank %d: %s\n", gRank, what);
  MPI_Abort(MPI_COMM_WORLD, 7);
}

struct Part {
  const char* name;
  void (*run)(void);
};

// Returns 0, or 2 if there is no such part.
static int runPart(int argc, char** argv, const struct Part* parts, size_t count) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &gRank);
  MPI_Comm_size(MPI_COMM_WORLD, &gSize);
  int found = 0;
  for (size_t at = 0; argc == 2 && at < count; ++at) {
    if (strcmp(parts[at].name, argv[1]) != 0)
      continue;
    parts[at].run();
    found = 1;
  }
  MPI_Finalize();
  return found ? 0 : 2;
}
