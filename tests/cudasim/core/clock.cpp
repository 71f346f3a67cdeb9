#include "tests/cudasim/core/clock.h"

#include <time.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace cudasim {
namespace {

constexpr uint64_t kCalibrationNs = 2'000'000;
constexpr uint64_t kKnotNs = 10'000'000;  // the model is corrected this often

uint64_t read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t realtime() {
  return read(CLOCK_REALTIME);
}

struct Pair {
  uint64_t ns = 0;
  uint64_t ticks = 0;
};

// The closest pair of five readings of both clocks.
Pair readBoth(TickSource source) {
  Pair best;
  uint64_t width = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = nowNs();
    const uint64_t ticks = source();
    const uint64_t after = nowNs();
    if (after - before < width) {
      width = after - before;
      best = {before + width / 2, ticks};
    }
  }
  return best;
}

double rate(Pair from, Pair to) {
  return static_cast<double>(to.ticks - from.ticks) / static_cast<double>(to.ns - from.ns);
}

struct Segment {
  Pair from;
  double slope = 1;
  uint64_t at(uint64_t ns) const {
    const auto delta = static_cast<double>(static_cast<int64_t>(ns - from.ns));
    return from.ticks + static_cast<uint64_t>(static_cast<int64_t>(slope * delta));
  }
};

struct Model {
  std::mutex mutex;
  TickSource source = realtime;
  Pair first;
  std::vector<Segment> segments;
};

Model& model() {
  static auto* instance = new Model;  // used until the process has ended
  return *instance;
}

// Starts a new segment at the end of the last one, with a slope that meets the source's clock one
// segment later.
void correct(Model& clock) {
  const Segment& last = clock.segments.back();
  if (clock.source == realtime || nowNs() < last.from.ns + kKnotNs) {
    return;
  }
  const Pair pair = readBoth(clock.source);
  const uint64_t here = last.at(pair.ns);
  const double base = rate(clock.first, pair);
  const double error = static_cast<double>(static_cast<int64_t>(pair.ticks - here));
  const double slope = std::max(base / 2, base + error / static_cast<double>(kKnotNs));
  clock.segments.push_back({{pair.ns, here}, slope});
}

}  // namespace

uint64_t nowNs() {
  return read(CLOCK_MONOTONIC);
}

void sleepUntil(uint64_t ns) {
  const timespec until{static_cast<time_t>(ns / 1'000'000'000),
                       static_cast<long>(ns % 1'000'000'000)};
  while (nowNs() < ns) {
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
}

uint64_t ticksNow() {
  Model& clock = model();
  TickSource source = nullptr;
  {
    const std::lock_guard lock(clock.mutex);
    source = clock.source;
  }
  return source();
}

void setTickSource(TickSource source) {
  Model& clock = model();
  const std::lock_guard lock(clock.mutex);
  clock.source = source ? source : realtime;
  clock.first = readBoth(clock.source);
  double slope = 1;
  if (source) {
    sleepUntil(clock.first.ns + kCalibrationNs);
    slope = rate(clock.first, readBoth(source));
  }
  clock.segments.assign(1, {clock.first, slope});
}

uint64_t toTicks(uint64_t ns) {
  Model& clock = model();
  const std::lock_guard lock(clock.mutex);
  if (clock.segments.empty()) {
    clock.segments.push_back({readBoth(realtime), 1});
  }
  correct(clock);
  auto after = std::upper_bound(
      clock.segments.begin(), clock.segments.end(), ns, [](uint64_t time, const Segment& s) {
        return time < s.from.ns;
      });
  return (after == clock.segments.begin() ? after : after - 1)->at(ns);
}

}  // namespace cudasim
