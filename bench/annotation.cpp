// Measures the cost of one annotation for its thread, in units of two clock reads, under a real
// recorder:
//
//   build/dev/bin/sonde run -f -o /tmp/annotation.sonde -- build/dev/bench/annotation [GiB]
//
// Loops of clock reads and of annotation pairs alternate in short batches. Each batch is compared
// with the clock loop beside it, so that changes of the machine's speed cancel. The program sleeps
// between batches so that the recorder keeps up; the run's summary must not report losses. Bytes
// are counted by the layout of records: a scope is 40.

#include "plugins/api/sonde.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace {

constexpr int kBatch = 100'000;
constexpr double kBytesPerPair = 40;

std::uint64_t readClock() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

void keep(std::uint64_t value) {
  asm volatile("" : : "r"(value) : "memory");
}

template <typename Body>
double nsPerCall(Body body) {
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < kBatch; ++call)
    body();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
  return spent.count() / kBatch;
}

struct Series {
  const char* name;
  std::vector<double> ratio;
  std::vector<double> extra;  // ns beyond two clock reads

  void add(double pair, double clocks) {
    ratio.push_back(pair / clocks);
    extra.push_back(pair - clocks);
  }

  static double at(std::vector<double>& values, double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }

  void print() {
    std::printf(
        "%-22s ratio to two clock reads %5.2f (p10 %5.2f, p90 %5.2f), beyond them %5.1f ns (%5.1f, "
        "%5.1f)\n",
        name,
        at(ratio, 0.5),
        at(ratio, 0.1),
        at(ratio, 0.9),
        at(extra, 0.5),
        at(extra, 0.1),
        at(extra, 0.9));
  }
};

constexpr auto kPairWithStaticName = [] {
  const sonde_scope scope = SONDE_BEGIN("static name");
  asm volatile("" : : : "memory");
  sonde_end(scope);
};

constexpr auto kPairWithNameLookedUp = [] {
  const sonde_scope scope = sonde_begin(SONDE_OPERATION, "a name of usual length");
  asm volatile("" : : : "memory");
  sonde_end(scope);
};

}  // namespace

int main(int argc, char** argv) {
  const double gib = argc > 1 ? std::atof(argv[1]) : 1.0;
  const int batches = static_cast<int>(gib * (1 << 30) / (2 * kBatch * kBytesPerPair)) + 1;
  Series fixed{"static name", {}, {}};
  Series changing{"name looked up", {}, {}};
  std::vector<double> clocks;
  for (int batch = 0; batch < batches; ++batch) {
    clocks.push_back(nsPerCall([] {
      keep(readClock());
      keep(readClock());
    }));
    fixed.add(nsPerCall(kPairWithStaticName), clocks.back());
    changing.add(nsPerCall(kPairWithNameLookedUp), clocks.back());
    ::usleep(700'000);
  }
  std::printf(
      "two clock reads        %.1f ns; %d batches of %d pairs, %.2f GiB, %s\n",
      Series::at(clocks, 0.5),
      batches,
      kBatch,
      2.0 * batches * kBatch * kBytesPerPair / (1 << 30),
      sonde_table() != nullptr ? "recorded" : "no recorder in this process: these are no-ops");
  fixed.print();
  changing.print();
}
