#include "analysis/engine/waits/wait_sink.h"

#include "analysis/model/times.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <utility>

namespace sonde::engine::waits {

using model::isTime;

namespace {

struct ProcessHost {
  std::int64_t id = 0;
  std::int64_t hostId = 0;

  SONDE_COLUMNS(id, hostId)
};

}  // namespace

Result<void> WaitSink::readHosts(const store::Database& trace) {
  std::unordered_map<std::int64_t, std::int64_t> hosts;  // by process
  SONDE_TRY(store::forEach<ProcessHost>(
      trace, "SELECT id, host_id FROM process", [&](const ProcessHost& row) {
        hosts[row.id] = row.hostId;
      }));
  hostOf_.assign(lanes_.count, 0);
  for (const auto& [id, facts] : lanes_.threads)
    if (facts.lane != kNoLane)
      hostOf_[facts.lane] = hosts[facts.processId];
  return store::forEach<ProcessHost>(
      trace,
      "SELECT r.id, p.host_id FROM stream r JOIN process p ON p.id = r.process_id",
      [&](const ProcessHost& row) {
        if (const LaneIndex lane = laneOfStream(row.id); lane != kNoLane)
          hostOf_[lane] = row.hostId;
      });
}

void WaitSink::add(Wait wait) {
  if (wait.lane == kNoLane || wait.waker == kNoLane || wait.lane == wait.waker ||
      !clock_.areComparable(hostOf_[wait.lane], hostOf_[wait.waker]))
    return;
  if (!isTime(wait.end) || !isTime(wait.wakerNs) ||
      !(isTime(wait.begin) || wait.begin == Wait::kStart))
    return;
  wait.end = toJob(wait.lane, wait.end);
  wait.wakerNs = toJob(wait.waker, wait.wakerNs);
  if (wait.begin != Wait::kStart)
    wait.begin = toJob(wait.lane, wait.begin);
  if (wait.begin > wait.end)
    return;
  if (wait.wakerNs > wait.end)
    found_.early.add(wait.wakerNs - wait.end);
  else
    found_.waits.push_back(wait);
}

void WaitSink::add(Meeting meeting) {
  std::erase_if(meeting.arrivals, [](const Meeting::Arrival& each) {
    return each.lane == kNoLane || !isTime(each.at);
  });
  std::erase_if(meeting.waiting, [](const Meeting::Waiting& each) {
    return each.lane == kNoLane || !isTime(each.begin) || !isTime(each.end) ||
           each.end < each.begin;
  });
  const bool isAlone = meeting.arrivals.size() == 1 && meeting.waiting.size() == 1 &&
                       meeting.arrivals[0].lane == meeting.waiting[0].lane;
  if (meeting.arrivals.empty() || meeting.waiting.empty() || isAlone)
    return;
  for (Meeting::Arrival& each : meeting.arrivals)
    each.at = toJob(each.lane, each.at);
  for (Meeting::Waiting& each : meeting.waiting) {
    each.begin = toJob(each.lane, each.begin);
    each.end = toJob(each.lane, each.end);
  }
  found_.meetings.push_back(std::move(meeting));
}

std::int64_t WaitSink::waitsFrom(std::int64_t thread,
                                 std::int64_t begin,
                                 std::int64_t callEnd,
                                 std::int64_t end) const {
  if (callEnd >= end)
    return begin;
  const auto facts = lanes_.threads.find(thread);
  if (facts == lanes_.threads.end())
    return begin;
  // Ordered by end, since they do not overlap.
  const std::vector<Outermost>& calls = facts->second.requestWaits;
  const auto call =
      std::lower_bound(calls.begin(), calls.end(), end, [](const Outermost& each, std::int64_t ns) {
        return each.end < ns;
      });
  return call == calls.end() || call->begin > end ? end : std::max(call->begin, begin);
}

Result<Waits> readWaits(const store::Database& trace, Lanes& lanes, const align::JobClock& clock) {
  WaitSink sink(lanes, clock);
  SONDE_TRY(sink.readHosts(trace));
  SONDE_TRY(addThreadWaits(trace, sink));
  SONDE_TRY(addCollectiveWaits(trace, sink));
  SONDE_TRY(addDeviceWaits(trace, sink));
  SONDE_TRY(followDrivers(trace, sink));
  return sink.take();
}

}  // namespace sonde::engine::waits
