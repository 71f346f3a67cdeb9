#include "analysis/engine/waits/wait_sink.h"

#include "analysis/model/times.h"

#include <algorithm>
#include <utility>

namespace sonde::engine::waits {

using model::isTime;

void WaitSink::add(const Wait& wait) {
  if (wait.lane == kNoLane || wait.waker == kNoLane || wait.lane == wait.waker ||
      wait.end < wait.begin || wait.wakerNs > wait.end)
    return;
  if (isTime(wait.end) && isTime(wait.wakerNs) &&
      (isTime(wait.begin) || wait.begin == Wait::kStart))
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
  if (!meeting.arrivals.empty() && !meeting.waiting.empty() && !isAlone)
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

Result<Waits> readWaits(const store::Database& trace, Lanes& lanes) {
  WaitSink sink(lanes);
  SONDE_TRY(addThreadWaits(trace, sink));
  SONDE_TRY(addCollectiveWaits(trace, sink));
  SONDE_TRY(addDeviceWaits(trace, sink));
  SONDE_TRY(followDrivers(trace, sink));
  return sink.take();
}

}  // namespace sonde::engine::waits
