#include "analysis/engine/whatif/launches.h"

#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/store/read_rows.h"

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
  SONDE_TRY_ASSIGN(const JobLanes lanes, JobLanes::read(trace, graph));
  return store::forEach<LaunchRow>(trace, kLaunches, [&](const LaunchRow& row) {
    if (const auto call = lanes.ofThread(row))
      each({row.isCopy, row.id, call->lane, call->span});
  });
}

}  // namespace sonde::engine::whatif
