#include "analysis/engine/hta/hta_report.h"

#include <set>

namespace sonde::engine::hta {

Result<HtaReport> readHta(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::vector<RankEvents> ranks, readEvents(trace));
  HtaReport report;
  std::set<std::int64_t> steps;
  for (const RankEvents& events : ranks) {
    for (const Step& step : events.steps)
      steps.insert(step.number);
    if (events.events.empty())
      continue;
    HtaRank& rank = report.ranks.emplace_back();
    rank.name = events.process.name;
    rank.rank = events.process.rank;
    rank.temporal = temporalOf(events);
    rank.overlap = overlapOf(events);
    rank.kernels = kernelTimes(events);
    rank.idle = idleOf(events);
    rank.queues = queuesOf(events);
    rank.bandwidth = memoryBandwidthOf(events);
    rank.launches = launchesOf(events);
  }
  report.steps.assign(steps.begin(), steps.end());
  report.types = typeTimes(ranks);
  report.stragglers = stragglersOf(ranks);
  return report;
}

}  // namespace sonde::engine::hta
