/* A library whose constructor waits for a thread that annotates, as a thread pool's may. */
#include "plugins/api/sonde.h"

#include <pthread.h>

static void* annotate(void* unused) {
  sonde_end(SONDE_BEGIN("while loading"));
  return unused;
}

__attribute__((constructor)) static void startPool(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, annotate, NULL) == 0)
    pthread_join(thread, NULL);
}
