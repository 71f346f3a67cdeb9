#include "analysis/engine/whatif/job_lanes.h"

namespace sonde::engine::whatif {

Result<JobLanes> JobLanes::read(const store::Database& trace, const graph::Graph& graph) {
  JobLanes lanes;
  SONDE_TRY_ASSIGN(lanes.clock_, align::JobClock::read(trace));
  for (graph::LaneIndex lane = 0; lane < graph.lanes.size(); ++lane) {
    const graph::Lane& of = graph.lanes[lane];
    if (of.kind == graph::LaneKind::Thread)
      lanes.threads_.emplace(of.id, Place{lane, of.hostId});
    else if (of.kind == graph::LaneKind::Stream)
      lanes.streams_.emplace(of.id, Place{lane, of.hostId});
  }
  return lanes;
}

std::optional<LaneSpan> JobLanes::find(const Places& places,
                                       std::int64_t id,
                                       std::int64_t beginNs,
                                       std::int64_t endNs) const {
  const auto place = places.find(id);
  if (place == places.end())
    return std::nullopt;
  const std::int64_t host = place->second.hostId;
  return LaneSpan{place->second.lane, {clock_.toJob(host, beginNs), clock_.toJob(host, endNs)}};
}

std::set<graph::LaneIndex> driversOf(const graph::TraceGraph& job) {
  std::set<graph::LaneIndex> found;
  for (const graph::IterationNodes& each : job.iterations)
    found.insert(job.graph.lane[each.first]);
  return found;
}

}  // namespace sonde::engine::whatif
