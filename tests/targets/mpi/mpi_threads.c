// Several threads in MPI at once: mpi_threads CASE, two ranks. `apart`: each thread has its own
// tag. `together`: all have one tag, so that the order of the threads' messages is unknown.
// `raised`: the same, but the environment requests the threads, not the program. `posted` and
// `posted_apart`: threads use nonblocking sends and receives, and the main thread waits for all of
// them. `posted_any`: with receives from any source among them.
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

enum { kPosts = 40, kWaits = 200 };
static MPI_Request gRequests[kThreads][kPosts];
static char gData[kThreads][kPosts][1024];
static pthread_barrier_t gBarrier;
static int gFromAnybody;

// All messages of all threads have different lengths.
static void* post(void* argument) {
  const int thread = (int)(intptr_t)argument;
  const int tag = gTogether ? 0 : thread;
  for (int wait = 0; wait < kWaits; ++wait) {
    pthread_barrier_wait(&gBarrier);
    for (int at = 0; at < kPosts; ++at) {
      if (gRank == 0)
        MPI_Isend(gData[thread][at],
                  1 + thread + kThreads * at,
                  MPI_CHAR,
                  1,
                  tag,
                  MPI_COMM_WORLD,
                  &gRequests[thread][at]);
      else
        MPI_Irecv(gData[thread][at],
                  1024,
                  MPI_CHAR,
                  gFromAnybody && at % 2 == 0 ? MPI_ANY_SOURCE : 0,
                  tag,
                  MPI_COMM_WORLD,
                  &gRequests[thread][at]);
    }
    pthread_barrier_wait(&gBarrier);
  }
  return NULL;
}

static void waitForAll(void) {
  for (int wait = 0; wait < kWaits; ++wait) {
    pthread_barrier_wait(&gBarrier);
    pthread_barrier_wait(&gBarrier);
    MPI_Waitall(kThreads * kPosts, &gRequests[0][0], MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
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
  const int posted = argc == 2 && strncmp(argv[1], "posted", 6) == 0;
  gFromAnybody = posted && strcmp(argv[1], "posted_any") == 0;
  gTogether = raised || gFromAnybody ||
              (argc == 2 && (strcmp(argv[1], "together") == 0 || strcmp(argv[1], "posted") == 0));
  pthread_barrier_init(&gBarrier, NULL, kThreads + 1);
  if (gRank == 0)
    usleep(200000);  // by then all receivers are waiting together
  pthread_t threads[kThreads];
  for (intptr_t at = 0; at < kThreads; ++at)
    pthread_create(&threads[at], NULL, posted ? post : run, (void*)at);
  if (posted)
    waitForAll();
  for (int at = 0; at < kThreads; ++at)
    pthread_join(threads[at], NULL);
  MPI_Finalize();
  return provided == MPI_THREAD_MULTIPLE ? 0 : 3;
}
