#include "analysis/engine/align/job_clock.h"

#include "analysis/store/each_row.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sonde::engine::align {
namespace {

std::int64_t driftedNs(std::int64_t distanceNs, std::int64_t driftPpb) {
  return static_cast<std::int64_t>(std::llround(static_cast<long double>(distanceNs) *
                                                static_cast<long double>(driftPpb) * 1e-9L));
}

struct MapRow {
  std::int64_t hostId = 0;
  std::int64_t fromNs = 0;
  std::int64_t offsetNs = 0;
  std::int64_t driftPpb = 0;

  SONDE_COLUMNS(hostId, fromNs, offsetNs, driftPpb)
};

}  // namespace

std::int64_t HostClock::toJob(std::int64_t hostNs) const {
  const auto after = std::partition_point(
      pieces_.begin(), pieces_.end(), [&](const Piece& piece) { return piece.fromNs <= hostNs; });
  if (after == pieces_.begin())
    return hostNs;
  const Piece& piece = *std::prev(after);
  return hostNs + piece.offsetNs + driftedNs(hostNs - piece.fromNs, piece.driftPpb);
}

std::int64_t HostClock::toHost(std::int64_t jobNs) const {
  // The offset hardly changes over the distance that it moves a time by: three steps are enough.
  std::int64_t hostNs = jobNs;
  for (int step = 0; step < 3; ++step)
    hostNs -= toJob(hostNs) - jobNs;
  return hostNs;
}

Result<JobClock> JobClock::read(const store::Database& trace) {
  JobClock clock;
  SONDE_TRY(store::forEach<MapRow>(
      trace,
      "SELECT host_id, from_ns, offset_ns, drift_ppb FROM clock_map ORDER BY host_id, from_ns",
      [&](const MapRow& row) {
        clock.clocks_[row.hostId].addPiece(row.fromNs, row.offsetNs, row.driftPpb);
      }));
  return clock;
}

std::int64_t JobClock::toJob(std::int64_t hostId, std::int64_t hostNs) const {
  const auto found = clocks_.find(hostId);
  return found == clocks_.end() ? hostNs : found->second.toJob(hostNs);
}

Result<ProcessClocks> readProcessClocks(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const JobClock clock, JobClock::read(trace));
  ProcessClocks clocks;
  SONDE_TRY(store::forEachRow(
      trace, "SELECT id, host_id FROM process", [&](const store::Statement& row) -> Result<void> {
        clocks.emplace(row.integer(0), clock.clockOf(row.integer(1)));
        return {};
      }));
  return clocks;
}

}  // namespace sonde::engine::align
