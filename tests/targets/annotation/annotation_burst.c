/* Annotates in bursts, faster than a recorder drains, until each thread has made COUNT; then
 * prints their number and ends with status 3. Some names are new, so that
 * definitions need room as well.
 *
 *   annotation_burst COUNT THREADS NAMES
 *
 * NAMES: number of different names per thread. */
#include "plugins/api/sonde.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 8, BURST = 20000 };

static long count;
static long names;

static void* annotate(void* argument) {
  const int thread = (int)(intptr_t)argument;
  char name[32];
  for (long n = 0; n < count; ++n) {
    snprintf(name, sizeof name, "thread %d name %ld", thread, n % names);
    sonde_end(sonde_begin(SONDE_OPERATION, name));
    if (n % BURST == BURST - 1)
      usleep(100000);
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[MAX_THREADS];
  if (argc != 4)
    return 2;
  count = atol(argv[1]);
  const int wanted = atoi(argv[2]);
  names = atol(argv[3]);
  if (wanted < 1 || wanted > MAX_THREADS || names < 1)
    return 2;
  for (int thread = 0; thread < wanted; ++thread)
    pthread_create(&threads[thread], NULL, annotate, (void*)(intptr_t)thread);
  for (int thread = 0; thread < wanted; ++thread)
    pthread_join(threads[thread], NULL);
  printf("made %ld\n", count * wanted);
  return 3;
}
