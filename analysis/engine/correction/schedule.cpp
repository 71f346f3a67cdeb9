#include "analysis/engine/correction/schedule.h"

#include <algorithm>
#include <tuple>

namespace sonde::engine::correction {
namespace {

using Kind = Schedule::Stop::Kind;

// A lane's wait for another lane, or for a meeting.
struct Entry {
  LaneIndex lane;
  bool isMeeting;
  std::uint32_t source;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t at;  // when the lane, or the last of the meeting, has come
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

}  // namespace

Schedule scheduleOf(const Program& program) {
  Schedule schedule;
  schedule.meetings = program.meetings.size();
  addGroups(entriesOf(program), schedule);
  for (std::uint32_t at = 0; at < program.meetings.size(); ++at)
    for (const Meeting::Arrival& arrival : program.meetings[at].arrivals)
      schedule.stops.push_back({arrival.at, Kind::Arrive, at, arrival.lane});
  std::sort(schedule.stops.begin(),
            schedule.stops.end(),
            [](const Schedule::Stop& a, const Schedule::Stop& b) {
              return std::tie(a.at, a.kind, a.target, a.source) <
                     std::tie(b.at, b.kind, b.target, b.source);
            });
  return schedule;
}

}  // namespace sonde::engine::correction
