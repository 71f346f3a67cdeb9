#include "analysis/engine/correction/schedule.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace sonde::engine::correction {
namespace {

using Stop = Schedule::Stop;
using Kind = Stop::Kind;

// A lane's wait for another lane, or for a meeting.
struct Entry {
  LaneIndex lane;
  bool isMeeting;
  std::uint32_t source;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t at;  // when the lane, or the last one of the meeting, has come
  std::uint32_t lagNs;

  auto key() const { return std::tie(lane, begin, end); }
};

std::int64_t lastArrivalOf(const Meeting& meeting) {
  std::int64_t last = INT64_MIN;
  for (const Meeting::Arrival& arrival : meeting.arrivals)
    last = std::max(last, arrival.at);
  return last;
}

std::vector<Entry> entriesOf(const Program& program) {
  std::vector<Entry> entries;
  entries.reserve(program.waits.size());
  for (const Wait& wait : program.waits)
    entries.push_back(
        {wait.lane, false, wait.waker, wait.begin, wait.end, wait.wakerNs, wait.lagNs});
  for (std::uint32_t at = 0; at < program.meetings.size(); ++at) {
    const Meeting& meeting = program.meetings[at];
    const std::int64_t last = lastArrivalOf(meeting);
    for (const Meeting::Waiting& each : meeting.waiting)
      if (!meeting.arrivals.empty() && last <= each.end)
        entries.push_back({each.lane, true, at, each.begin, each.end, last, 0});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.key() < b.key();
  });
  return entries;
}

void addGroups(const std::vector<Entry>& entries, Schedule& into) {
  for (std::size_t at = 0; at < entries.size(); ++at) {
    const Entry& entry = entries[at];
    const bool isStart = entry.begin == Wait::kStart;
    if (at == 0 || entries[at - 1].key() != entry.key()) {
      into.groups.push_back({entry.lane, isStart, entry.begin});
      if (!isStart)
        into.stops.push_back({entry.begin,
                              Kind::Begin,
                              static_cast<std::uint32_t>(into.groups.size() - 1),
                              entry.lane});
    }
    Schedule::Group& group = into.groups.back();
    group.latest = std::max(group.latest, entry.at + entry.lagNs);
    into.stops.push_back({entry.at,
                          entry.isMeeting ? Kind::Met : Kind::Waker,
                          static_cast<std::uint32_t>(into.groups.size() - 1),
                          entry.source,
                          entry.lagNs});
  }
  for (std::uint32_t group = 0; group < into.groups.size(); ++group)
    into.stops.push_back({into.groups[group].latest, Kind::GoOn, group, into.groups[group].lane});
}

// Orders the stops of one time. A lane goes on before it waits again or lets others go on. A wait
// ends after all that it waits for. O(n) for n stops, times the length of their dependency chains.
// In a circle, one of the stops comes first.
class SameTime {
 public:
  SameTime(const Program& program, const Schedule& schedule)
      : lanes_(program.lanes.size()),
        meetings_(schedule.meetings),
        groups_(schedule.groups.size()),
        begins_(schedule.groups.size()) {}

  void putInOrder(std::span<Stop> stops) {
    for (const Stop& stop : stops)
      if (stop.kind == Kind::Begin)
        begins_[stop.target] = true;
    for (const Stop& stop : stops)
      addTo(stop, 1);
    std::vector<Stop> left(stops.begin(), stops.end());
    auto next = stops.begin();
    while (!left.empty()) {
      const std::size_t before = left.size();
      std::erase_if(left,
                    [&](const Stop& stop) { return isReady(stop) && (take(stop, next), true); });
      if (left.size() == before) {
        take(left.front(), next);
        left.erase(left.begin());
      }
    }
    for (const Stop& stop : stops)
      if (stop.kind == Kind::Begin)
        begins_[stop.target] = false;
  }

 private:
  void take(const Stop& stop, std::span<Stop>::iterator& next) {
    addTo(stop, -1);
    *next++ = stop;
  }

  void addTo(const Stop& stop, int by) {
    if (stop.kind == Kind::Arrive)
      meetings_[stop.target] += by;
    else if (stop.kind != Kind::GoOn)
      groups_[stop.target] += by;
    else if (!begins_[stop.target])
      lanes_[stop.source] += by;
  }

  bool isReady(const Stop& stop) const {
    switch (stop.kind) {
      case Kind::Begin:
      case Kind::Waker:
      case Kind::Arrive:
        return lanes_[stop.source] == 0;
      case Kind::Met:
        return meetings_[stop.source] == 0;
      case Kind::GoOn:
        break;
    }
    return groups_[stop.target] == 0;
  }

  // The number of stops still to come.
  std::vector<int> lanes_;     // where the lane goes on from a wait that began earlier
  std::vector<int> meetings_;  // where a lane arrives
  std::vector<int> groups_;    // that its end needs
  std::vector<bool> begins_;   // whether the group begins at this time
};

}  // namespace

Schedule scheduleOf(const Program& program) {
  Schedule schedule;
  schedule.meetings = program.meetings.size();
  addGroups(entriesOf(program), schedule);
  for (std::uint32_t at = 0; at < program.meetings.size(); ++at)
    for (const Meeting::Arrival& arrival : program.meetings[at].arrivals)
      schedule.stops.push_back({arrival.at, Kind::Arrive, at, arrival.lane});
  std::sort(schedule.stops.begin(), schedule.stops.end(), [](const Stop& a, const Stop& b) {
    return std::tie(a.at, a.kind, a.target, a.source) < std::tie(b.at, b.kind, b.target, b.source);
  });
  SameTime sameTime(program, schedule);
  for (auto begin = schedule.stops.begin(); begin != schedule.stops.end();) {
    const auto end = std::find_if(
        begin, schedule.stops.end(), [&](const Stop& stop) { return stop.at != begin->at; });
    if (end - begin > 1)
      sameTime.putInOrder({begin, end});
    begin = end;
  }
  return schedule;
}

}  // namespace sonde::engine::correction
