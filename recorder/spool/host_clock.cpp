#include "recorder/spool/host_clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <limits>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace sonde::recorder {
namespace {

std::int64_t clockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::uint64_t hostTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(clockNs(CLOCK_MONOTONIC));
#endif
}

}  // namespace

ClockTriple readHostClock() {
  constexpr int kTries = 5;
  ClockTriple best;
  std::int64_t tightest = std::numeric_limits<std::int64_t>::max();
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const std::int64_t before = clockNs(CLOCK_MONOTONIC);
    const std::int64_t realtime = clockNs(CLOCK_REALTIME);
    const std::uint64_t ticks = hostTicks();
    const std::int64_t after = clockNs(CLOCK_MONOTONIC);
    if (after - before >= tightest)
      continue;
    tightest = after - before;
    best = {ticks, before + tightest / 2, realtime};
  }
  return best;
}

std::string timeOfDay(const ClockTriple& time) {
  return fmt::format("{:%H:%M:%S}", fmt::localtime(time.realtimeNs / 1'000'000'000));
}

double measureNsPerTick() {
  const ClockTriple first = readHostClock();
  const timespec pause{.tv_sec = 0, .tv_nsec = 20'000'000};
  nanosleep(&pause, nullptr);
  const ClockTriple second = readHostClock();
  if (second.ticks <= first.ticks)
    return 1;
  return static_cast<double>(second.monotonicNs - first.monotonicNs) /
         static_cast<double>(second.ticks - first.ticks);
}

}  // namespace sonde::recorder
