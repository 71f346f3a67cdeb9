// Several threads in MPI at a time: mpi_threads CASE, two ranks. `apart`: each thread has a tag of
// its own; `together`: all have one, so that nobody can say which thread's message was first;
// `raised`: the same, and it is not the program that asks for threads.
#include <mpi.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 200, kManyRounds = 5000 };
static int gRank;
static int gTogether;
static int gRounds = kRounds;

static void* run(void* argument) {
  const int thread = (int)(intptr_t)argument;
  const int tag = gTogether ? 0 : thread;
  char data[64];
  memset(data, thread, sizeof data);
  for (int round = 0; round < gRounds; ++round) {
    if (gRank == 0)
      MPI_Send(data, thread + 1, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
    else
      MPI_Recv(data, 64, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  const int raised = argc == 2 && strcmp(argv[1], "raised") == 0;
  if (raised)
    MPI_Init(&argc, &argv);
  else
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Query_thread(&provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &gRank);
  gRounds = raised ? kManyRounds : kRounds;
  gTogether = raised || (argc == 2 && strcmp(argv[1], "together") == 0);
  if (gRank == 0)
    usleep(200000);  // all receivers wait by then, together
  pthread_t threads[kThreads];
  for (intptr_t at = 0; at < kThreads; ++at)
    pthread_create(&threads[at], NULL, run, (void*)at);
  for (int at = 0; at < kThreads; ++at)
    pthread_join(threads[at], NULL);
  MPI_Finalize();
  return provided == MPI_THREAD_MULTIPLE ? 0 : 3;
}
