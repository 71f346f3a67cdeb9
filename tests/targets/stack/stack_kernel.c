/* A program that spends the same time inside and outside the kernel: "stack_kernel SECONDS" of CPU
 * time, in turns of 3 ms. Prints "in_kernel NANOSECONDS" and "in_user NANOSECONDS"
 * (tests/e2e/threads/stack_test.py). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kStretchNs = 3000000, kBytes = 1 << 20 };

static long long cpuNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static char buffer[kBytes];

__attribute__((noinline)) void in_kernel(int zeros) {
  const long long end = cpuNs() + kStretchNs;
  while (cpuNs() < end) {
    if (read(zeros, buffer, sizeof buffer) < 0)
      abort();
  }
}

__attribute__((noinline)) void in_user(void) {
  const long long end = cpuNs() + kStretchNs;
  while (cpuNs() < end) {
    for (volatile int i = 0; i < 100000; i = i + 1)
      ;
  }
}

int main(int argc, char** argv) {
  const long long begin = cpuNs();
  const long long seconds = argc > 1 ? atoi(argv[1]) : 1;
  long long inKernel = 0;
  long long inUser = 0;
  const int zeros = open("/dev/zero", O_RDONLY);
  while (cpuNs() < begin + seconds * 1000000000LL) {
    const long long at = cpuNs();
    long long between;
    in_kernel(zeros);
    between = cpuNs();
    in_user();
    inKernel += between - at;
    inUser += cpuNs() - between;
  }
  printf("in_kernel %lld\nin_user %lld\n", inKernel, inUser);
  return 0;
}
