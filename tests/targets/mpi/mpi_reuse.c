// MPI reuses a request's handle before the call that ended the request returns: two ranks. Prints
// how often.
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>

enum { kRounds = 20, kMost = 100 };
extern void (*gBeforeReturn)(void);
static __thread int gSlow;  // this thread's MPI_Wait
static sem_t gReturned, gEnded, gGoOn;
static MPI_Request gFirst;

static void beforeReturn(void) {
  if (!gSlow)
    return;
  sem_post(&gEnded);
  sem_wait(&gGoOn);
}

static void* wait(void* none) {
  char data[kMost];
  MPI_Request request;
  gSlow = 1;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Irecv(data, kMost, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
    gFirst = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sem_post(&gReturned);
  }
  return none;
}

static void receive(void) {
  char data[kMost];
  MPI_Request request;
  pthread_t thread;
  int again = 0;
  sem_init(&gReturned, 0, 0);
  sem_init(&gEnded, 0, 0);
  sem_init(&gGoOn, 0, 0);
  gBeforeReturn = beforeReturn;
  MPI_Recv(data,
           kMost,
           MPI_CHAR,
           1,
           2,
           MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);  // so that the tags' numbers differ
  pthread_create(&thread, NULL, wait, NULL);
  for (int round = 0; round < kRounds; ++round) {
    sem_wait(&gEnded);
    MPI_Irecv(data, kMost, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request);
    again += request == gFirst;
    sem_post(&gGoOn);
    sem_wait(&gReturned);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  pthread_join(thread, NULL);
  printf("%d handles again\n", again);
}

int main(int argc, char** argv) {
  int provided, rank;
  char data[kMost] = {0};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    receive();
  if (rank == 1)
    MPI_Send(data, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
  for (int round = 0; rank == 1 && round < kRounds; ++round) {
    MPI_Send(data, 2 * round + 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    MPI_Ssend(data, 2 * round + 2, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return provided == MPI_THREAD_MULTIPLE ? 0 : 3;
}
