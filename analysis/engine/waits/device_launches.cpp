#include "analysis/engine/waits/device_launches.h"

#include <algorithm>
#include <limits>

namespace sonde::engine::waits {

void LaunchLatency::add(const std::vector<DeviceLaunch>& launches) {
  for (const DeviceLaunch& each : launches)
    if (each.from >= each.after)
      idle_[each.hasReturned ? 1 : 0].push_back(each.passedNs());
}

std::int64_t LaunchLatency::ns(bool hasReturned) {
  std::vector<std::int64_t>& all = idle_[hasReturned ? 1 : 0];
  if (all.empty())
    return 0;
  const auto tenth = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 10);
  std::nth_element(all.begin(), tenth, all.end());
  return *tenth;
}

void addLaunchWaits(LaneIndex stream,
                    const std::vector<DeviceLaunch>& launches,
                    LaunchLatency& latency,
                    WaitSink& sink) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t latencies[] = {latency.ns(false), latency.ns(true)};
  for (const DeviceLaunch& each : launches) {
    const std::int64_t most = std::min(each.passedNs(), kMost);
    const auto lag = std::min(latencies[each.hasReturned ? 1 : 0], most);
    sink.add(
        {stream, each.thread, each.after, each.begin, each.from, static_cast<std::uint32_t>(lag)});
  }
}

}  // namespace sonde::engine::waits
