#include "analysis/engine/whatif/compute/passes.h"

#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace sonde::engine::whatif {
namespace {

using graph::LaneIndex;

struct PassRow {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  bool isBackward = false;

  SONDE_COLUMNS(threadId, startNs, durNs, isBackward)
};

constexpr const char* kPasses =
    "SELECT s.thread_id, s.start_ns, s.dur_ns, s.kind = 'backward' OR n.text = 'backward' AS "
    "is_backward FROM slice s JOIN string n ON n.id = s.name_id WHERE s.dur_ns > 0 AND (s.kind IN "
    "('forward', 'backward') OR (s.kind IN ('phase', 'operation', 'range', 'operator') AND n.text "
    "IN ('forward', 'backward'))) ORDER BY s.start_ns, s.dur_ns DESC";

struct Pass {
  Span span;
  bool isBackward = false;
};
using PassesOfLanes = std::map<LaneIndex, std::vector<Pass>>;

Result<PassesOfLanes> readAll(const store::Database& trace, const graph::TraceGraph& job) {
  SONDE_TRY_ASSIGN(const JobLanes lanes, JobLanes::read(trace, job.graph));
  const std::set<LaneIndex> drivers = driversOf(job);
  PassesOfLanes found;
  SONDE_TRY(store::forEach<PassRow>(trace, kPasses, [&](const PassRow& row) {
    const auto pass = lanes.ofThread(row);
    if (!pass || !drivers.contains(pass->lane))
      return;
    std::vector<Pass>& of = found[pass->lane];
    if (of.empty() || pass->span.beginNs >= of.back().span.endNs)  // not inside of another one
      of.push_back({pass->span, row.isBackward});
  }));
  return found;
}

// Joins the forward passes before each backward pass of the same iteration.
void pair(const graph::Graph& graph,
          const replay::IterationWindows& windows,
          LaneIndex lane,
          const std::vector<Pass>& all,
          Passes& found) {
  Span forward;
  bool hasForward = false;
  for (const Pass& each : all) {
    if (!each.isBackward) {
      forward = {hasForward ? forward.beginNs : each.span.beginNs, each.span.endNs};
      hasForward = true;
      continue;
    }
    const graph::Lane& of = graph.lanes[lane];
    const std::uint32_t iteration = windows.at(of, each.span.beginNs);
    if (hasForward && iteration != replay::kNoIteration &&
        windows.at(of, forward.beginNs) == iteration) {
      found.forward.push_back({iteration, lane, forward, {}});
      found.backward.push_back({iteration, lane, each.span, {}});
    }
    hasForward = false;
  }
}

}  // namespace

Result<Passes> readPasses(const store::Database& trace, const graph::TraceGraph& job) {
  SONDE_TRY_ASSIGN(const PassesOfLanes all, readAll(trace, job));
  const replay::IterationWindows windows(job.graph, graph::jobIterations(job));
  Passes found;
  for (const auto& [lane, of] : all)
    pair(job.graph, windows, lane, of, found);
  if (found.forward.empty())
    return notFound(
        "the trace shows no forward and backward passes: it needs recorded iterations with slices "
        "of the kinds 'forward' and 'backward', as the PyTorch hooks and sonde.operation() record "
        "them");
  return found;
}

}  // namespace sonde::engine::whatif
