/* Measures the speed of each processor continuously: processor_speed FILE. A thread on each does
 * the same 9 us of arithmetic every 5 ms until SIGTERM, and writes time, processor and duration as
 * an array of Sample. On a virtual machine whose processors are threads of shared cores, it takes
 * up to twice as long. Nothing else shows that: no time is stolen, and nothing waits.
 * bench/machine_speed.py uses it. To be exact it needs scheduling priority (root). */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kPeriodNs = 5000000, kValues = 512, kRounds = 50 };

struct Sample {
  int64_t begin_ns; /* CLOCK_MONOTONIC */
  int64_t processor;
  int64_t took_ns;
};

static FILE* gFile;
static int64_t gBeginNs;
static int gProcessors;

static int64_t nowNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Independent operations: they measure the core's throughput, not the latency of one operation. */
static void work(double* values, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (int one = 0; one < kValues; ++one)
      values[one] = values[one] * 1.0000001 + 1e-9;
  __asm__ volatile("" : : "r"(values) : "memory"); /* keeps the work from being optimised away */
}

struct Watched {
  int processor;
  int number; /* among the watched processors */
};

/* At different moments, so that the threads do not slow each other down. */
static void* watch(void* argument) {
  const struct Watched* const watched = argument;
  const int processor = watched->processor;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  if (sched_setaffinity(0, sizeof only, &only) != 0) {
    fprintf(stderr, "processor_speed: processor %d cannot be watched\n", processor);
    _Exit(1);
  }
  const struct sched_param first = {.sched_priority = 1};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) != 0)
    fprintf(stderr,
            "processor_speed: processor %d is not watched first of all: what else runs there looks "
            "like a slow one\n",
            processor);
  double values[kValues];
  for (int one = 0; one < kValues; ++one)
    values[one] = 1;
  int64_t next = gBeginNs + watched->number * (int64_t)kPeriodNs / gProcessors;
  for (;; next += kPeriodNs) {
    const struct timespec until = {next / 1000000000, next % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
    work(values, 2); /* into the cache */
    struct Sample sample = {nowNs(), processor, 0};
    work(values, kRounds);
    sample.took_ns = nowNs() - sample.begin_ns;
    if (fwrite(&sample, sizeof sample, 1, gFile) != 1)
      _Exit(1);
  }
  return NULL;
}

int main(int count, char** arguments) {
  cpu_set_t mine;
  if (count != 2 || (gFile = fopen(arguments[1], "wb")) == NULL ||
      sched_getaffinity(0, sizeof mine, &mine) != 0) {
    fprintf(stderr, "usage: processor_speed FILE (one that can be written)\n");
    return 2;
  }
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &end, NULL);
  static struct Watched watched[CPU_SETSIZE];
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &mine)) {
      watched[gProcessors] = (struct Watched){processor, gProcessors};
      ++gProcessors;
    }
  gBeginNs = nowNs() + kPeriodNs;
  for (int one = 0; one < gProcessors; ++one) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, &watched[one]) != 0)
      return 1;
  }
  int which = 0;
  sigwait(&end, &which);
  fflush(gFile);
  _Exit(0);
}
