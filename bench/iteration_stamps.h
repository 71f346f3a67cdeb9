/* Begin, end and processor of each iteration of a job, by the job's own clock. If BENCH_STAMPS is
 * set, stampsWrite() writes them to that file for bench/machine_speed.py, as an array of
 * IterationStamp in memory layout. For one thread; C and C++. */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct IterationStamp {
  int64_t begin_ns; /* CLOCK_MONOTONIC */
  int64_t end_ns;
  int64_t processor; /* where it ended */
};

struct IterationStamps {
  struct IterationStamp* all;
  long count;
};

static inline int64_t stampsNow(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Touches the memory, so that no iteration is the first to do so. */
static inline struct IterationStamps stampsFor(long iterations) {
  struct IterationStamps made;
  made.count = 0;
  made.all = (struct IterationStamp*)malloc((size_t)iterations * sizeof *made.all);
  for (long one = 0; made.all != NULL && one < iterations; ++one)
    made.all[one].begin_ns = -1;
  if (made.all == NULL)
    exit(1);
  return made;
}

static inline void stampsBegin(struct IterationStamps* stamps) {
  stamps->all[stamps->count].begin_ns = stampsNow();
}

static inline void stampsEnd(struct IterationStamps* stamps) {
  struct IterationStamp* const one = &stamps->all[stamps->count++];
  one->end_ns = stampsNow();
  one->processor = sched_getcpu();
}

/* The mean length of an iteration, in ns. */
static inline double stampsMean(const struct IterationStamps* stamps) {
  double sum = 0;
  for (long one = 0; one < stamps->count; ++one)
    sum += (double)(stamps->all[one].end_ns - stamps->all[one].begin_ns);
  return sum / (double)stamps->count;
}

static inline void stampsWrite(const struct IterationStamps* stamps) {
  const char* const path = getenv("BENCH_STAMPS");
  FILE* const file = path == NULL ? NULL : fopen(path, "wb");
  if (path != NULL && (file == NULL ||
                       fwrite(stamps->all, sizeof *stamps->all, (size_t)stamps->count, file) !=
                           (size_t)stamps->count ||
                       fclose(file) != 0))
    exit(1);
}
