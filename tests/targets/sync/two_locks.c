// Two threads, each of which owns one mutex and wants the other's.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void* takeBoth(void* isFirst) {
  pthread_mutex_t* const own = isFirst != NULL ? &first : &second;
  pthread_mutex_t* const other = isFirst != NULL ? &second : &first;
  pthread_mutex_lock(own);
  pthread_barrier_wait(&both);
  printf("%d\n", gettid());
  fflush(stdout);
  pthread_mutex_lock(other);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&threads[0], NULL, takeBoth, &both);
  pthread_create(&threads[1], NULL, takeBoth, NULL);
  pthread_join(threads[0], NULL);
  return 0;
}
