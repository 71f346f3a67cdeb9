#include "analysis/engine/optimise/memory_need.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/memory/memory_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace sonde::engine::optimise {
namespace {

// An iteration of a process, by the job's time.
struct Window {
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
};

// The iterations of a process, and where it ran.
struct RankWindows {
  std::int64_t rank = -1;
  std::int64_t hostId = 0;
  std::vector<Window> windows;
};

std::map<std::int64_t, RankWindows> windowsOf(const graph::TraceGraph& job) {
  std::map<std::int64_t, RankWindows> found;
  for (const graph::IterationNodes& each : job.iterations) {
    if (each.first == graph::kNoNode || each.last == graph::kNoNode)
      continue;
    RankWindows& of = found[each.processId];
    of.rank = each.rank;
    of.hostId = job.graph.lanes[job.graph.lane[each.first]].hostId;
    of.windows.push_back({job.graph.beginNs[each.first], job.graph.endNs(each.last)});
  }
  return found;
}

std::optional<MemoryNeed> needOf(const metrics::MemoryLog& log,
                                 const RankWindows& of,
                                 const align::JobClock& clock) {
  std::vector<metrics::MemoryLevel> levels = metrics::levelsOf(log.blocks, log.baseBytes);
  for (metrics::MemoryLevel& each : levels)
    each.ns = clock.toJob(of.hostId, each.ns);
  const metrics::HighestLevel highest(levels, log.baseBytes);
  MemoryNeed need{{}, std::numeric_limits<std::int64_t>::max(), 0};
  for (const Window& each : of.windows) {
    need.peakBytes = std::max(need.peakBytes, highest.in({each.beginNs, each.endNs}));
    need.betweenBytes = std::min(need.betweenBytes, highest.in({each.beginNs, each.beginNs}));
  }
  if (need.peakBytes <= need.betweenBytes)
    return std::nullopt;
  return need;
}

}  // namespace

Result<MemoryNeed> readMemoryNeed(const store::Database& trace, const graph::TraceGraph& job) {
  SONDE_TRY_ASSIGN(const metrics::MemoryLogs logs, metrics::readMemoryLogs(trace));
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  const std::map<std::int64_t, RankWindows> windows = windowsOf(job);
  std::optional<MemoryNeed> found;
  bool isDevice = false;
  for (const auto& [place, log] : logs) {
    const auto of = windows.find(place.processId);
    const bool onDevice = place.deviceId.has_value();
    if (of == windows.end() || (isDevice && !onDevice))
      continue;
    std::optional<MemoryNeed> need = needOf(log, of->second, clock);
    if (!need)
      continue;
    const bool isMore = !found || (onDevice && !isDevice) || need->peakBytes > found->peakBytes;
    if (!isMore)
      continue;
    need->place = of->second.rank < 0 ? place.place
                                      : fmt::format("{} of rank {}", place.place, of->second.rank);
    found = std::move(need);
    isDevice = onDevice;
  }
  if (!found)
    return notFound(
        "the trace has no allocations inside of iterations, so the memory that they need is "
        "unknown: record with --sources +memory, or with profile_memory=True in torch.profiler");
  return *found;
}

}  // namespace sonde::engine::optimise
