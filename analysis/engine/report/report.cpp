#include "analysis/engine/report/report.h"

#include <algorithm>
#include <utility>

namespace sonde::engine::report {
namespace {

// Devices may work while the loader holds up the host.
std::int64_t idleLoadOf(const metrics::RankTime& time, const metrics::RankStalls& stalls) {
  for (const metrics::StallTime& stall : stalls.causes)
    if (stall.cause == metrics::StallCause::Loader)
      return std::min(time.idleNs, stall.deviceIdleNs.value_or(stall.ns));
  return 0;
}

}  // namespace

Result<JobReport> readReport(const store::Database& trace,
                             std::optional<double> peakFlops,
                             const metrics::Clocks& clocks) {
  JobReport report;
  SONDE_TRY_ASSIGN(std::vector<metrics::RankProcess> ranks, metrics::readRanks(trace));
  SONDE_TRY_ASSIGN(report.facts, metrics::readFacts(trace));
  SONDE_TRY_ASSIGN(report.standstill, standstill::readStandstill(trace));
  SONDE_TRY_ASSIGN(report.traffic, metrics::trafficOf(trace, ranks));
  SONDE_TRY_ASSIGN(report.conservation, metrics::conservationOf(trace));
  SONDE_TRY_ASSIGN(report.scalars, metrics::scalarTrends(trace, ranks));
  SONDE_TRY_ASSIGN(report.threads, metrics::threadTimes(trace));
  SONDE_TRY_ASSIGN(report.python, metrics::pythonTimes(trace));
  SONDE_TRY_ASSIGN(report.devices, device::summarise(trace, ranks));
  for (const metrics::RankProcess& rank : ranks) {
    SONDE_TRY_ASSIGN(const metrics::RankWork work, metrics::workOf(trace, rank, peakFlops));
    report.rawThroughput.push_back(metrics::throughputOf(rank, work));
    report.throughput.push_back(metrics::throughputOf(rank, work, clocks.best()));
  }
  SONDE_TRY_ASSIGN(report.usage, readUsage(trace, ranks, report.rawThroughput, clocks));
  SONDE_TRY_ASSIGN(RankTimes times, readRankTimes(trace, std::move(ranks), clocks));
  report.path = readPaths(trace, report.facts.events);
  report.ranks = std::move(times.ranks);
  for (std::size_t at = 0; at < report.ranks.size(); ++at)
    if (report.ranks[at].time.computeKnown)
      report.ranks[at].idleLoadNs = idleLoadOf(report.ranks[at].time, report.usage.stalls.at(at));
  report.recordingCost = std::move(times.cost);
  return report;
}

}  // namespace sonde::engine::report
