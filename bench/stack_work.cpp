// A fixed amount of work 30 calls deep; prints the CPU time it took, in seconds. For
// stack_overhead.py.
#include <cstdio>
#include <ctime>

namespace {

__attribute__((noinline)) unsigned long down(int depth, unsigned long seed) {
  if (depth > 0) {
    const unsigned long result = down(depth - 1, seed + 1);
    asm volatile("" ::: "memory");
    return result;
  }
  for (int i = 0; i < 200'000; ++i)
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
  return seed;
}

double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main() {
  const double begin = cpuSeconds();
  volatile unsigned long sink = 0;
  for (unsigned long i = 0; i < 9000; ++i)
    sink = sink + down(30, i);
  std::printf("%.6f\n", cpuSeconds() - begin);
  return 0;
}
