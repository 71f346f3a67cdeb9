#include "analysis/engine/correction/correct.h"

#include "analysis/model/times.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sonde::engine::correction {
namespace {

using End = CostPoint::End;
using Stop = Schedule::Stop;

// Walks through a lane's events.
class Walker {
 public:
  Walker(const Lane& lane, const std::vector<EventCost>& costs) : lane_(lane), costs_(costs) {}

  // The corrected time of `at`, for a lane that waits for this one. While this lane waits it may
  // have been idle then. Requires: not before the last time.
  std::int64_t timeAt(std::int64_t at) {
    if (!hasBegun_ && (next_ == lane_.points.size() || lane_.points[next_].at > at))
      return at;
    if (!isWaiting())
      return advance(at);
    passPoints(at - 1);
    const auto own = static_cast<double>(std::max<std::int64_t>(at - at_, 0));
    return at - delayNs_ - static_cast<std::int64_t>(std::min(debtNs_, own));
  }

  // From `at` on, only what is recorded inside the wait is paid. The debt so far, mainly the cost
  // of the waiting event, is due again when the lane goes on. Returns the corrected time.
  std::int64_t beginWait(std::int64_t at, std::uint32_t group) {
    const std::int64_t corrected = advance(at);
    waits_.push_back({group, std::exchange(debtNs_, 0)});
    return corrected;
  }

  // `at` becomes `corrected`, or the lane's own result if that is later.
  void endWait(std::int64_t at, std::uint32_t group, std::int64_t corrected) {
    passPoints(at - 1);
    const auto idle = static_cast<double>(std::max<std::int64_t>(at - at_, 0));
    const double absorbed = std::min(debtNs_, idle);
    debtNs_ -= absorbed;
    prepay(at, idle - absorbed);
    timeline_.add({at_, delayNs_});
    corrected = std::max(corrected, at_ - delayNs_);
    delayNs_ = at - corrected;
    timeline_.add({at, delayNs_});
    at_ = at;
    release(group);
  }

  // Starts the lane at its first event, unless it has had one.
  void start(std::int64_t at, std::int64_t corrected) {
    if (hasBegun_ || (next_ < lane_.points.size() && lane_.points[next_].at < at))
      return;
    delayNs_ = at - corrected;
    timeline_.add({at, delayNs_});
    hasBegun_ = true;
    at_ = at;
  }

  Timeline finish() {
    if (!lane_.points.empty())
      advance(std::max(at_, lane_.points.back().at));
    // The lane may go on after its last event with a known cost.
    pay(at_ + static_cast<std::int64_t>(std::min(debtNs_, static_cast<double>(model::kMostNs))));
    return std::move(timeline_);
  }

 private:
  struct OpenWait {
    std::uint32_t group;
    double owedNs;
  };

  bool isWaiting() const noexcept { return !waits_.empty(); }

  std::int64_t advance(std::int64_t to) {
    passPoints(to);
    pay(to);
    return to - delayNs_;
  }

  void passPoints(std::int64_t until) {
    for (; next_ < lane_.points.size() && lane_.points[next_].at <= until; ++next_) {
      const CostPoint& point = lane_.points[next_];
      const EventCost& cost = costs_[point.cost];
      // Before the first event there is no time to subtract it from.
      if (point.end != End::End && hasBegun_)
        owe(cost.beforeNs - prepaidNs_);
      prepaidNs_ = 0;
      // An instant, such as a stack sample in a wait, does not end the idle time.
      if (point.end != End::Instant || !isWaiting())
        pay(point.at);
      if (point.end != End::End)
        owe(cost.insideNs);
      if (point.end != End::Begin)
        owe(cost.afterNs);
    }
  }

  void owe(double ns) noexcept { debtNs_ += std::max(ns, 0.0); }

  // Subtracts the debt from the time since the last event.
  void pay(std::int64_t until) {
    const std::int64_t from = at_;
    at_ = until;
    const std::int64_t most = hasBegun_ ? until - from : 0;
    hasBegun_ = true;
    const auto paid = static_cast<std::int64_t>(std::min(debtNs_, static_cast<double>(most)));
    if (paid <= 0)
      return;
    timeline_.add({from, delayNs_});
    delayNs_ += paid;
    debtNs_ -= static_cast<double>(paid);
    timeline_.add({until, delayNs_});
  }

  // Part of the next event's cost lies before its begin. The part before `at`, at most `mostNs`,
  // was absorbed by a wait.
  void prepay(std::int64_t at, double mostNs) noexcept {
    prepaidNs_ = 0;
    if (next_ == lane_.points.size() || lane_.points[next_].end == End::End)
      return;
    const CostPoint& point = lane_.points[next_];
    const double early = costs_[point.cost].beforeNs - static_cast<double>(point.at - at);
    prepaidNs_ = std::clamp(early, 0.0, mostNs);
  }

  // If the lane still waits inside this wait, its debt is due after that wait, too.
  void release(std::uint32_t group) {
    const auto ended = std::find_if(
        waits_.begin(), waits_.end(), [&](const OpenWait& each) { return each.group == group; });
    const double owedNs = ended->owedNs;
    const auto inside = waits_.erase(ended);
    (inside == waits_.end() ? debtNs_ : waits_.back().owedNs) += owedNs;
  }

  const Lane& lane_;
  const std::vector<EventCost>& costs_;
  Timeline timeline_;
  std::vector<OpenWait> waits_;
  std::size_t next_ = 0;
  bool hasBegun_ = false;
  std::int64_t at_ = 0;  // the last time at which it certainly did not wait
  std::int64_t delayNs_ = 0;
  double debtNs_ = 0;
  double prepaidNs_ = 0;  // part of the next event's cost
};

class Pass {
 public:
  Pass(const std::vector<Lane>& lanes,
       const Schedule& schedule,
       const std::vector<EventCost>& costs)
      : schedule_(schedule),
        groups_(schedule.groups.size(), INT64_MIN),
        meetings_(schedule.meetings, INT64_MIN) {
    walkers_.reserve(lanes.size());
    for (const Lane& lane : lanes)
      walkers_.emplace_back(lane, costs);
  }

  std::vector<Timeline> run() {
    for (const Stop& stop : schedule_.stops)
      take(stop);
    std::vector<Timeline> timelines;
    timelines.reserve(walkers_.size());
    for (Walker& walker : walkers_)
      timelines.push_back(walker.finish());
    return timelines;
  }

 private:
  void take(const Stop& stop) {
    const auto raise = [](std::int64_t& latest, std::int64_t to) { latest = std::max(latest, to); };
    switch (stop.kind) {
      case Stop::Kind::Begin:
        raise(groups_[stop.target], walkers_[stop.source].beginWait(stop.at, stop.target));
        return;
      case Stop::Kind::Waker:
        raise(groups_[stop.target], walkers_[stop.source].timeAt(stop.at) + stop.lagNs);
        return;
      case Stop::Kind::Arrive:
        raise(meetings_[stop.target], walkers_[stop.source].timeAt(stop.at));
        return;
      case Stop::Kind::Met:
        raise(groups_[stop.target], meetings_[stop.source]);
        return;
      case Stop::Kind::GoOn:
        if (schedule_.groups[stop.target].isStart)
          walkers_[stop.source].start(stop.at, groups_[stop.target]);
        else
          walkers_[stop.source].endWait(stop.at, stop.target, groups_[stop.target]);
        return;
    }
  }

  const Schedule& schedule_;
  std::vector<Walker> walkers_;
  std::vector<std::int64_t> groups_;    // by group: the corrected time of what it waits for, so far
  std::vector<std::int64_t> meetings_;  // corrected time of the last lane to come
};

}  // namespace

std::vector<Timeline> correct(const std::vector<Lane>& lanes,
                              const Schedule& schedule,
                              const std::vector<EventCost>& costs) {
  return Pass(lanes, schedule, costs).run();
}

std::vector<Timeline> correct(const Program& program, const std::vector<EventCost>& costs) {
  return correct(program.lanes, scheduleOf(program), costs);
}

}  // namespace sonde::engine::correction
