#include "analysis/engine/graph/device_meetings.h"

#include <algorithm>

namespace sonde::engine::graph {

std::vector<DeviceMeeting> deviceMeetingsOf(const std::vector<waits::Meeting>& meetings,
                                            const std::vector<bool>& isDevice) {
  std::vector<DeviceMeeting> found;
  for (std::uint32_t i = 0; i < meetings.size(); ++i)
    for (const waits::Meeting::Waiting& each : meetings[i].waiting)
      if (isDevice[each.lane])
        found.push_back({each.lane, each.begin, i});
  std::stable_sort(found.begin(), found.end(), [](const DeviceMeeting& a, const DeviceMeeting& b) {
    return a.place() < b.place();
  });
  const auto repeated =
      std::unique(found.begin(), found.end(), [](const DeviceMeeting& a, const DeviceMeeting& b) {
        return a.place() == b.place();
      });
  found.erase(repeated, found.end());
  return found;
}

}  // namespace sonde::engine::graph
