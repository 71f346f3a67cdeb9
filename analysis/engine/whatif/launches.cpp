#include "analysis/engine/whatif/launches.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/store/read_rows.h"

#include <unordered_map>

namespace sonde::engine::whatif {
namespace {

struct LaunchRow {
  std::int64_t id = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  bool isCopy = false;

  SONDE_COLUMNS(id, threadId, startNs, durNs, isCopy)
};

constexpr const char* kLaunches =
    "SELECT w.id, l.thread_id, l.start_ns, l.dur_ns, w.is_copy FROM (SELECT id, launch_slice_id, 0 "
    "AS is_copy FROM kernel UNION ALL SELECT id, launch_slice_id, 1 FROM copy) w JOIN slice l ON "
    "l.id = w.launch_slice_id";

}  // namespace

Result<void> forEachLaunch(const store::Database& trace,
                           const graph::Graph& graph,
                           const std::function<void(const Launched&)>& each) {
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  std::unordered_map<std::int64_t, graph::LaneIndex> threads;
  for (graph::LaneIndex lane = 0; lane < graph.lanes.size(); ++lane)
    if (graph.lanes[lane].kind == graph::LaneKind::Thread)
      threads.emplace(graph.lanes[lane].id, lane);
  return store::forEach<LaunchRow>(trace, kLaunches, [&](const LaunchRow& row) {
    const auto thread = threads.find(row.threadId);
    if (thread == threads.end())
      return;
    const std::int64_t host = graph.lanes[thread->second].hostId;
    each({row.isCopy,
          row.id,
          thread->second,
          {clock.toJob(host, row.startNs), clock.toJob(host, row.startNs + row.durNs)}});
  });
}

}  // namespace sonde::engine::whatif
