#include "analysis/engine/whatif/sharing/idle_time.h"

#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <map>
#include <set>

namespace sonde::engine::whatif {
namespace {

using graph::LaneIndex;
using graph::NodeIndex;

struct StreamDevice {
  std::int64_t id = 0;
  std::int64_t device = 0;

  SONDE_COLUMNS(id, device)
};

struct BusySpan {
  Span span;
  NodeIndex node = 0;
  bool isCollective = false;
  std::int64_t latestEndNs = 0;  // of this one and those before
};
using BusyDevices = std::map<std::int64_t, std::vector<BusySpan>>;  // by begin

class IdleFinder {
 public:
  IdleFinder(const graph::Graph& graph, std::unordered_map<LaneIndex, std::int64_t> devices)
      : graph_(graph), devices_(std::move(devices)) {}

  // By the begin of each kernel; collectives last until the end of their transfer.
  void addBusy(const std::vector<DeviceWork>& works, const replay::Times& times) {
    for (const DeviceWork& each : works) {
      if (each.name.empty())
        continue;
      const NodeIndex node = each.node;
      const bool hasTransfer = node + 1 < graph_.nodes() &&
                               graph_.kind[node + 1] == graph::NodeKind::Transfer &&
                               graph_.row[node + 1] == graph_.row[node];
      const NodeIndex last = hasTransfer ? node + 1 : node;
      const Span span{times.beginNs[node], times.beginNs[last] + times.durNs[last]};
      const LaneIndex lane = graph_.lane[node];
      ofProcess_[graph_.lanes[lane].processId].insert(devices_.at(lane));
      if (span.endNs > span.beginNs)
        busy_[devices_.at(lane)].push_back({span, node, each.isCollective});
    }
    for (auto& [device, spans] : busy_) {
      std::stable_sort(spans.begin(), spans.end(), [](const BusySpan& a, const BusySpan& b) {
        return a.span.beginNs < b.span.beginNs;
      });
      std::int64_t latest = spans.front().span.endNs;
      for (BusySpan& each : spans)
        each.latestEndNs = latest = std::max(latest, each.span.endNs);
    }
  }

  // The iterations of processes that use devices.
  void addWindows(const graph::TraceGraph& job, const replay::Times& times) {
    for (const replay::JobIteration& iteration : replay::jobIterations(job))
      for (const graph::IterationNodes& each : iteration.ranks)
        if (const auto devices = ofProcess_.find(each.processId); devices != ofProcess_.end())
          for (const std::int64_t device : devices->second)
            windows_[device].push_back(
                {times.beginNs[each.first], times.beginNs[each.last] + times.durNs[each.last]});
  }

  bool hasWindows() const noexcept { return !windows_.empty(); }

  IdleTime find() {
    IdleTime found;
    found.typicalNs = medianNs();
    double count = 0;
    for (const auto& [device, windows] : windows_)
      for (const Span& window : windows) {
        found.iterationNs += static_cast<double>(window.endNs - window.beginNs);
        addGaps(busy_[device], window, found);
        ++count;
      }
    for (double* sum : {&found.iterationNs, &found.idleNs, &found.shortNs, &found.collectiveNs})
      *sum /= std::max(count, 1.0);
    return found;
  }

 private:
  std::int64_t medianNs() const {
    std::vector<std::int64_t> lengths;
    for (const auto& [device, spans] : busy_)
      for (const BusySpan& each : spans)
        if (!each.isCollective)
          lengths.push_back(each.span.endNs - each.span.beginNs);
    if (lengths.empty())
      return 0;
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    return *middle;
  }

  static void addGap(const Span& gap, NodeIndex next, IdleTime& found) {
    const std::int64_t length = gap.endNs - gap.beginNs;
    if (length <= 0)
      return;
    const bool isLong = length >= std::max<std::int64_t>(found.typicalNs, 1);
    (isLong ? found.idleNs : found.shortNs) += static_cast<double>(length);
    if (isLong)
      found.gaps.push_back({length, next});
  }

  static void addGaps(const std::vector<BusySpan>& busy, const Span& window, IdleTime& found) {
    std::int64_t until = window.beginNs;     // any kernel
    std::int64_t computed = window.beginNs;  // kernels that compute
    std::int64_t both = 0;                   // time with any, and with computing kernels
    std::int64_t computing = 0;
    const auto first = std::partition_point(busy.begin(), busy.end(), [&](const BusySpan& each) {
      return each.latestEndNs <= window.beginNs;
    });
    for (auto at = first; at != busy.end() && at->span.beginNs < window.endNs; ++at) {
      const BusySpan& each = *at;
      if (each.span.endNs <= window.beginNs)
        continue;
      addGap({until, each.span.beginNs}, each.isCollective ? graph::kNoNode : each.node, found);
      const std::int64_t end = std::min(each.span.endNs, window.endNs);
      both += std::max<std::int64_t>(end - std::max(until, each.span.beginNs), 0);
      until = std::max(until, end);
      if (each.isCollective)
        continue;
      computing += std::max<std::int64_t>(end - std::max(computed, each.span.beginNs), 0);
      computed = std::max(computed, end);
    }
    addGap({until, window.endNs}, graph::kNoNode, found);
    found.collectiveNs += static_cast<double>(both - computing);
  }

  const graph::Graph& graph_;
  std::unordered_map<LaneIndex, std::int64_t> devices_;
  std::map<std::int64_t, std::set<std::int64_t>> ofProcess_;
  BusyDevices busy_;
  std::map<std::int64_t, std::vector<Span>> windows_;  // by device
};

}  // namespace

Result<std::unordered_map<LaneIndex, std::int64_t>> devicesOfStreams(const store::Database& trace,
                                                                     const graph::Graph& graph) {
  std::unordered_map<std::int64_t, std::int64_t> known;
  SONDE_TRY(store::forEach<StreamDevice>(
      trace,
      "SELECT id, device_id AS device FROM stream WHERE device_id NOTNULL",
      [&](const StreamDevice& row) { known.emplace(row.id, row.device); }));
  std::unordered_map<LaneIndex, std::int64_t> found;
  for (LaneIndex lane = 0; lane < graph.lanes.size(); ++lane) {
    if (graph.lanes[lane].kind != graph::LaneKind::Stream)
      continue;
    const auto device = known.find(graph.lanes[lane].id);
    // Streams of unknown devices are of one, for each process.
    found.emplace(lane, device == known.end() ? -1 - graph.lanes[lane].processId : device->second);
  }
  return found;
}

Result<IdleTime> findIdleTime(const store::Database& trace,
                              const Scenario& scenario,
                              const std::vector<DeviceWork>& works) {
  const bool hasKernels = std::any_of(works.begin(), works.end(), [](const DeviceWork& each) {
    return !each.name.empty() && !each.isCollective;
  });
  if (!hasKernels)
    return notFound("the trace has no kernels of a device, so nothing says when a device is idle");
  SONDE_TRY_ASSIGN(auto devices, devicesOfStreams(trace, scenario.graph()));
  IdleFinder finder(scenario.graph(), std::move(devices));
  const replay::Times times = scenario.replay();
  finder.addBusy(works, times);
  finder.addWindows(scenario.job(), times);
  if (!finder.hasWindows())
    return notFound(
        "the trace has no iterations of a process that uses a device: annotate them with "
        "sonde.iteration(), or record a framework's");
  return finder.find();
}

}  // namespace sonde::engine::whatif
