#include "analysis/engine/correction/correct.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace sonde::engine::correction {
namespace {

using End = CostPoint::End;

// A lane on its way through its events.
class Walker {
 public:
  Walker(const Lane& lane, const std::vector<EventCost>& costs) : lane_(lane), costs_(costs) {}

  // Goes on to `to`; the corrected time then. Requires: not before the last time.
  std::int64_t advance(std::int64_t to) {
    for (; next_ < lane_.points.size() && lane_.points[next_].at <= to; ++next_) {
      const CostPoint& point = lane_.points[next_];
      const EventCost& cost = costs_[point.cost];
      // Before the first event there is nothing that it could be taken out of.
      if (point.end != End::End && hasBegun_)
        owe(cost.beforeNs);
      pay(point.at);
      if (point.end != End::End)
        owe(cost.insideNs);
      if (point.end != End::Begin)
        owe(cost.afterNs);
    }
    pay(to);
    return to - delayNs_;
  }

  // Between the two nothing is paid. A wait may begin inside another.
  void beginWait() noexcept { ++waits_; }
  // `corrected`: what `at`, which was advanced to, becomes.
  void endWait(std::int64_t at, std::int64_t corrected) {
    --waits_;
    timeline_.add({waitedFrom_, delayNs_});
    corrected = std::max(corrected, waitedFrom_ - delayNs_);
    delayNs_ = at - corrected;
    timeline_.add({at, delayNs_});
    waitedFrom_ = at;
  }

  // The lane's first event, unless it has had one.
  void start(std::int64_t at, std::int64_t corrected) {
    if (hasBegun_ || (next_ < lane_.points.size() && lane_.points[next_].at < at))
      return;
    delayNs_ = at - corrected;
    timeline_.add({at, delayNs_});
    hasBegun_ = true;
    at_ = waitedFrom_ = at;
  }

  Timeline finish() {
    advance(lane_.points.empty() ? at_ : std::max(at_, lane_.points.back().at));
    return std::move(timeline_);
  }

 private:
  void owe(double ns) noexcept { debtNs_ += std::max(ns, 0.0); }

  // Takes what is owed out of the time since the last event.
  void pay(std::int64_t until) {
    const std::int64_t from = at_;
    at_ = until;
    if (waits_ > 0)
      return;
    const std::int64_t most = hasBegun_ ? until - from : 0;
    hasBegun_ = true;
    waitedFrom_ = until;
    const auto paid = static_cast<std::int64_t>(std::min(debtNs_, static_cast<double>(most)));
    if (paid == 0)
      return;
    timeline_.add({from, delayNs_});
    delayNs_ += paid;
    debtNs_ -= static_cast<double>(paid);
    timeline_.add({until, delayNs_});
  }

  const Lane& lane_;
  const std::vector<EventCost>& costs_;
  Timeline timeline_;
  std::size_t next_ = 0;
  bool hasBegun_ = false;
  std::int64_t at_ = 0;
  std::int64_t waitedFrom_ = 0;  // the last time at which the lane did not wait
  std::int64_t delayNs_ = 0;
  double debtNs_ = 0;
  int waits_ = 0;
};

bool isStart(const Wait& wait) noexcept {
  return wait.begin == Wait::kStart;
}

// Waits of one lane that begin and end together.
struct Group {
  LaneIndex lane;
  std::int64_t latest;           // of what it waits for, its own begin included
  std::int64_t latestCorrected;  // of these
  bool isStart;
};

struct Stop {
  enum class Kind : std::uint8_t { Begin, Waker, GoOn };
  std::int64_t at;
  Kind kind;  // at one time what a lane waits for comes before it goes on
  std::uint32_t group;
  LaneIndex lane;
};

class Pass {
 public:
  Pass(const Program& program, const std::vector<EventCost>& costs) {
    walkers_.reserve(program.lanes.size());
    for (const Lane& lane : program.lanes)
      walkers_.emplace_back(lane, costs);
    gather(program.waits);
  }

  std::vector<Timeline> run() {
    for (const Stop& stop : stops_)
      take(stop);
    std::vector<Timeline> timelines;
    timelines.reserve(walkers_.size());
    for (Walker& walker : walkers_)
      timelines.push_back(walker.finish());
    return timelines;
  }

 private:
  void gather(std::vector<Wait> waits) {
    const auto key = [](const Wait& wait) { return std::tie(wait.lane, wait.begin, wait.end); };
    std::sort(
        waits.begin(), waits.end(), [&](const Wait& a, const Wait& b) { return key(a) < key(b); });
    for (std::size_t at = 0; at < waits.size(); ++at) {
      const Wait& wait = waits[at];
      if (at == 0 || key(waits[at - 1]) != key(wait)) {
        const auto group = static_cast<std::uint32_t>(groups_.size());
        groups_.push_back({wait.lane, wait.begin, INT64_MIN, isStart(wait)});
        if (!isStart(wait))
          stops_.push_back({wait.begin, Stop::Kind::Begin, group, wait.lane});
      }
      const auto group = static_cast<std::uint32_t>(groups_.size() - 1);
      groups_.back().latest = std::max(groups_.back().latest, wait.wakerNs);
      stops_.push_back({wait.wakerNs, Stop::Kind::Waker, group, wait.waker});
    }
    for (std::uint32_t group = 0; group < groups_.size(); ++group)
      stops_.push_back({groups_[group].latest, Stop::Kind::GoOn, group, groups_[group].lane});
    std::sort(stops_.begin(), stops_.end(), [](const Stop& a, const Stop& b) {
      return std::tie(a.at, a.kind, a.group, a.lane) < std::tie(b.at, b.kind, b.group, b.lane);
    });
  }

  void take(const Stop& stop) {
    Group& group = groups_[stop.group];
    Walker& walker = walkers_[stop.lane];
    if (stop.kind == Stop::Kind::GoOn) {
      if (group.isStart) {
        walker.start(stop.at, group.latestCorrected);
      } else {
        walker.advance(stop.at);
        walker.endWait(stop.at, group.latestCorrected);
      }
      return;
    }
    const std::int64_t corrected = walker.advance(stop.at);
    group.latestCorrected = std::max(group.latestCorrected, corrected);
    if (stop.kind == Stop::Kind::Begin)
      walker.beginWait();
  }

  std::vector<Walker> walkers_;
  std::vector<Group> groups_;
  std::vector<Stop> stops_;
};

}  // namespace

std::vector<Timeline> correct(const Program& program, const std::vector<EventCost>& costs) {
  return Pass(program, costs).run();
}

}  // namespace sonde::engine::correction
