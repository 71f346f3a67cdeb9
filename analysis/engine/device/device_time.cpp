#include "analysis/engine/device/device_time.h"

#include <algorithm>
#include <utility>

namespace sonde::engine::device {
namespace {

using metrics::Interval;

struct Edge {
  std::int64_t at;
  WorkKind kind;
  int change;
};

std::vector<Edge> edgesOf(const DeviceWork& device) {
  std::vector<Edge> edges;
  for (const StreamWork& stream : device.streams)
    for (const Work& work : stream.work) {
      if (work.end <= work.begin)
        continue;
      edges.push_back({work.begin, work.kind, 1});
      edges.push_back({work.end, work.kind, -1});
    }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  return edges;
}

}  // namespace

std::vector<Activity> activityOf(const DeviceWork& device) {
  std::vector<Activity> activity;
  std::array<std::int64_t, kWorkKinds> open{};
  WorkSet set = 0;
  std::int64_t since = 0;
  const std::vector<Edge> edges = edgesOf(device);
  for (std::size_t at = 0; at < edges.size();) {
    const std::int64_t now = edges[at].at;
    if (set != 0)
      activity.push_back({{since, now}, set});
    for (; at < edges.size() && edges[at].at == now; ++at)
      open[static_cast<std::size_t>(edges[at].kind)] += edges[at].change;
    set = 0;
    for (std::size_t kind = 0; kind < kWorkKinds; ++kind)
      if (open[kind] > 0)
        set = static_cast<WorkSet>(set | setOf(static_cast<WorkKind>(kind)));
    since = now;
    const bool goesOn = !activity.empty() && activity.back().set == set;
    if (goesOn && activity.back().time.end == now) {
      since = activity.back().time.begin;
      activity.pop_back();
    }
  }
  return activity;
}

DeviceTime timeIn(const std::vector<Activity>& activity, Interval window) {
  DeviceTime time;
  time.windowNs = std::max<std::int64_t>(window.end - window.begin, 0);
  time.setNs[0] = time.windowNs;
  auto at = std::lower_bound(
      activity.begin(), activity.end(), window.begin, [](const Activity& each, std::int64_t begin) {
        return each.time.end <= begin;
      });
  for (; at != activity.end() && at->time.begin < window.end; ++at) {
    const std::int64_t ns =
        std::min(at->time.end, window.end) - std::max(at->time.begin, window.begin);
    time.setNs[at->set] += ns;
    time.setNs[0] -= ns;
  }
  return time;
}

DeviceTime timeIn(const std::vector<Activity>& activity, const metrics::Intervals& windows) {
  DeviceTime sum;
  for (const Interval& window : windows) {
    const DeviceTime time = timeIn(activity, window);
    sum.windowNs += time.windowNs;
    for (std::size_t set = 0; set < kWorkSets; ++set)
      sum.setNs[set] += time.setNs[set];
  }
  return sum;
}

std::int64_t DeviceTime::unionOf(WorkKind kind) const noexcept {
  std::int64_t ns = 0;
  for (std::size_t set = 0; set < kWorkSets; ++set)
    ns += (set & setOf(kind)) != 0 ? setNs[set] : 0;
  return ns;
}

std::int64_t DeviceTime::exposedCommNs() const noexcept {
  return setNs[setOf(WorkKind::Communication)] +
         setNs[setOf(WorkKind::Communication) | setOf(WorkKind::Copy)];
}

std::int64_t DeviceTime::exposedCopyNs() const noexcept {
  return setNs[setOf(WorkKind::Copy)];
}

}  // namespace sonde::engine::device
