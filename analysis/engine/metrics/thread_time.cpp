#include "analysis/engine/metrics/thread_time.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using ByCause = std::array<std::int64_t, kCauses>;

// The value at `ns` of a total that grows linearly between readings. Outside of them: the nearest
// reading's.
std::int64_t totalAt(const std::vector<TotalAt>& readings, std::int64_t ns) {
  const auto after =
      std::upper_bound(readings.begin(), readings.end(), ns, [](std::int64_t at, const TotalAt& r) {
        return at < r.ns;
      });
  if (after == readings.begin())
    return readings.empty() ? 0 : readings.front().total;
  const TotalAt& before = *(after - 1);
  if (after == readings.end())
    return before.total;
  const double share =
      static_cast<double>(ns - before.ns) / static_cast<double>(after->ns - before.ns);
  return before.total + std::llround(share * static_cast<double>(after->total - before.total));
}

// Each instant belongs to the open wait that began last. The result is in order of time, without
// overlaps.
std::vector<Wait> innermost(std::vector<Wait> waits) {
  std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
    return a.time.begin != b.time.begin ? a.time.begin < b.time.begin : a.time.end > b.time.end;
  });
  std::vector<Wait> flat;
  std::vector<Wait> open;  // begun before `now`; the last one is on top
  std::int64_t now = 0;
  const auto runUntil = [&](std::int64_t until) {
    while (!open.empty() && now < until) {
      const Wait& top = open.back();
      const std::int64_t end = std::min(top.time.end, until);
      if (now < end)
        flat.push_back({{now, end}, top.cause});
      now = std::max(now, end);
      if (top.time.end <= until)
        open.pop_back();
    }
  };
  for (const Wait& wait : waits) {
    runUntil(wait.time.begin);
    now = wait.time.begin;
    open.push_back(wait);
  }
  runUntil(INT64_MAX);
  return flat;
}

// How much of each stretch of time the waits took. Stretches must come in order.
class WaitsInOrder {
 public:
  explicit WaitsInOrder(std::vector<Wait> waits) : waits_(innermost(std::move(waits))) {}

  ByCause within(const Interval& stretch) {
    ByCause sums{};
    while (next_ < waits_.size() && waits_[next_].time.end <= stretch.begin)
      ++next_;
    for (std::size_t at = next_; at < waits_.size() && waits_[at].time.begin < stretch.end; ++at) {
      const Interval& time = waits_[at].time;
      sums[static_cast<std::size_t>(waits_[at].cause)] +=
          std::min(time.end, stretch.end) - std::max(time.begin, stretch.begin);
    }
    return sums;
  }

 private:
  std::vector<Wait> waits_;
  std::size_t next_ = 0;
};

std::vector<std::int64_t> instantsOf(const ThreadRecord& record) {
  std::vector<std::int64_t> instants;
  for (const auto* readings : {&record.running, &record.runnable})
    for (const TotalAt& reading : *readings)
      instants.push_back(reading.ns);
  std::sort(instants.begin(), instants.end());
  instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
  return instants;
}

// Scales `sums` down so that their total is at most `limit`.
ByCause scaledTo(ByCause sums, std::int64_t limit) {
  const std::int64_t all = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
  if (all <= limit)
    return sums;
  const double share = limit <= 0 ? 0 : static_cast<double>(limit) / static_cast<double>(all);
  for (std::int64_t& sum : sums)
    sum = static_cast<std::int64_t>(share * static_cast<double>(sum));
  return sums;
}

// Readings exceed the wall time if ticks came late and no later reading corrected them. Reduces the
// most uncertain parts first.
void takeFromParts(std::int64_t excess, ThreadTime& time) {
  std::vector<std::int64_t*> parts;
  for (std::int64_t& cause : time.blockedNs)
    parts.push_back(&cause);
  std::sort(parts.begin(), parts.end(), [](const auto* a, const auto* b) { return *a > *b; });
  parts.push_back(&time.runnableNs);
  parts.push_back(&time.runningNs);
  for (std::int64_t* const part : parts) {
    const std::int64_t taken =
        std::clamp<std::int64_t>(excess, 0, std::max<std::int64_t>(*part, 0));
    *part -= taken;
    excess -= taken;
  }
}

}  // namespace

ThreadTime accountFor(const ThreadRecord& record) {
  // While a thread runs, its total lags by up to this much; the next reading corrects it.
  constexpr std::int64_t kTick = 10'000'000;
  const std::vector<std::int64_t> instants = instantsOf(record);
  WaitsInOrder waits(record.waits);
  ThreadTime time;
  std::int64_t late = 0;
  for (std::size_t at = 1; at < instants.size(); ++at) {
    const Interval stretch = {instants[at - 1], instants[at]};
    const auto grown = [&](const std::vector<TotalAt>& readings) {
      return totalAt(readings, stretch.end) - totalAt(readings, stretch.begin);
    };
    const std::int64_t running = grown(record.running);
    const std::int64_t runnable = grown(record.runnable);
    const std::int64_t blocked = stretch.end - stretch.begin - running - runnable;
    ByCause known = scaledTo(waits.within(stretch), blocked + late);
    std::int64_t knownSum = std::accumulate(known.begin(), known.end(), std::int64_t{0});
    if (knownSum < blocked && grown(record.majorFaults) > 0) {
      known[static_cast<std::size_t>(Cause::File)] += blocked - knownSum;
      knownSum = blocked;
    }
    late = std::clamp<std::int64_t>(blocked - knownSum, 0, kTick);
    time.wallNs += stretch.end - stretch.begin;
    time.runningNs += running;
    time.runnableNs += runnable;
    time.unknownNs += blocked - knownSum;
    for (std::size_t cause = 0; cause < kCauses; ++cause)
      time.blockedNs[cause] += known[cause];
  }
  takeFromParts(-std::min<std::int64_t>(time.unknownNs, 0), time);
  time.unknownNs = std::max<std::int64_t>(time.unknownNs, 0);
  return time;
}

}  // namespace sonde::engine::metrics
