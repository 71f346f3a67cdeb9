/* Annotates as fast as it can, and counts each finished annotation in a page that
 * outlives it.
 *
 *   annotation_counter FILE SECONDS THREADS
 *
 * FILE has one uint64_t per thread and, after MAX_THREADS of them, the pid. Each thread
 * opens and closes operations named by its number whose argument `n` counts up, with marks in
 * between, so that a reader finds missing and doubled records. */
#include "plugins/api/sonde.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 8 };

static volatile uint64_t* counters;
static double seconds;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void* annotate(void* argument) {
  const int thread = (int)(intptr_t)argument;
  const sonde_api_table* api = sonde_table();
  const double end = now() + seconds;
  char name[32];
  uint32_t key;
  uint64_t n;
  snprintf(name, sizeof name, "thread %d", thread);
  key = api == NULL ? 0 : api->intern("n", 1);
  for (n = 0; n % 64 != 0 || now() < end; ++n) {
    const sonde_scope scope = sonde_begin(SONDE_OPERATION, name);
    if (api != NULL)
      api->argument_int(scope, key, (int64_t)n);
    sonde_end(scope);
    __atomic_store_n(&counters[thread], n + 1, __ATOMIC_RELEASE);
    if (n % 64 == 63)
      usleep(500); /* fast enough to change slots all the time, slow enough to be read back in a
                      test */
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[MAX_THREADS];
  int count;
  int thread;
  int file;
  if (argc != 4)
    return 2;
  file = open(argv[1], O_RDWR | O_CREAT, 0600);
  seconds = atof(argv[2]);
  count = atoi(argv[3]);
  if (file < 0 || count < 1 || count > MAX_THREADS || ftruncate(file, 4096) != 0)
    return 2;
  counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (counters == MAP_FAILED)
    return 2;
  __atomic_store_n(&counters[MAX_THREADS], (uint64_t)getpid(), __ATOMIC_RELEASE);
  for (thread = 0; thread < count; ++thread)
    pthread_create(&threads[thread], NULL, annotate, (void*)(intptr_t)thread);
  for (thread = 0; thread < count; ++thread)
    pthread_join(threads[thread], NULL);
  return 0;
}
