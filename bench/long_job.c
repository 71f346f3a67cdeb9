/* A long job for bench/long_run.py: iterations of SLICES operations each, RATE operations a second,
 * COUNT operations in total. RATE 0: as fast as possible.
 *
 *   long_job COUNT RATE [SLICES=200] */
#include "plugins/api/sonde.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void waitUntil(double when) {
  const double left = when - now();
  if (left > 0) {
    struct timespec pause;
    pause.tv_sec = (time_t)left;
    pause.tv_nsec = (long)(1e9 * (left - (double)pause.tv_sec));
    nanosleep(&pause, NULL);
  }
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000000;
  const double rate = argc > 2 ? atof(argv[2]) : 0;
  const long slices = argc > 3 ? atol(argv[3]) : 200;
  static const char* const kNames[] = {"embed", "attention", "mlp", "norm", "loss"};
  const double begin = now();
  long done = 0;
  while (done < count) {
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "train");
    for (long i = 0; i < slices; ++i)
      sonde_end(sonde_begin(SONDE_OPERATION, kNames[i % 5]));
    sonde_end(iteration);
    done += slices;
    if (rate > 0)
      waitUntil(begin + (double)done / rate);
  }
  printf("%ld operations in %.2f s\n", done, now() - begin);
  return 0;
}
