/* Iterations of calls that the probes net, io and sync record, for bench/calibrate.py. Runs BLOCKS
 * blocks of BLOCK iterations, one block per line on standard input, and answers each with a line of
 * the iterations' times in ns.
 *
 *   calibrate_calls BLOCKS BLOCK */
#include "plugins/api/sonde.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 100, kWork = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipeEnds[2];
static int file;
static volatile double sum;

static double spent(void) {
  struct timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return 1e9 * (double)at.tv_sec + (double)at.tv_nsec;
}

static void iterate(void) {
  char buffer[64] = {0};
  for (int round = 0; round < kRounds; ++round) {
    if (write(pipeEnds[1], buffer, sizeof buffer) < 0 ||
        read(pipeEnds[0], buffer, sizeof buffer) < 0 || pwrite(file, buffer, sizeof buffer, 0) < 0)
      exit(1);
    for (int lock = 0; lock < 10; ++lock) {
      pthread_mutex_lock(&mutex);
      for (int at = 0; at < kWork / 10; ++at)
        sum += at;
      pthread_mutex_unlock(&mutex);
    }
  }
}

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? atoi(argv[1]) : 100;
  const int block = argc > 2 ? atoi(argv[2]) : 10;
  char line[64];
  char name[] = "/tmp/calibrate-XXXXXX";
  file = mkstemp(name);
  if (file < 0 || unlink(name) != 0 || pipe(pipeEnds) != 0)
    return 1;
  for (int at = 0; at < blocks && fgets(line, sizeof line, stdin) != NULL; ++at) {
    for (int iteration = 0; iteration < block; ++iteration) {
      const double begin = spent();
      const sonde_scope scope = sonde_begin(SONDE_ITERATION, "iteration");
      iterate();
      sonde_end(scope);
      printf("%.0f ", spent() - begin);
    }
    printf("\n");
    fflush(stdout);
  }
  return 0;
}
