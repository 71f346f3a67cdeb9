#include "gui/trace/host_clock.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sonde::gui {
namespace {

std::int64_t drifted(std::int64_t distanceNs, std::int64_t driftPpb) {
  return static_cast<std::int64_t>(std::llround(static_cast<long double>(distanceNs) *
                                                static_cast<long double>(driftPpb) * 1e-9L));
}

}  // namespace

Result<HostClock> HostClock::read(const store::Database& trace, std::int64_t hostId) {
  SONDE_TRY_ASSIGN(auto rows,
                   trace.prepare("SELECT from_ns, offset_ns, drift_ppb FROM clock_map "
                                 "WHERE host_id = ?1 ORDER BY from_ns"));
  rows.bindAll(hostId);
  HostClock clock;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return clock;
    clock.pieces_.push_back({rows.integer(0), rows.integer(1), rows.integer(2)});
  }
}

std::int64_t HostClock::toJob(std::int64_t hostNs) const {
  const auto after = std::partition_point(
      pieces_.begin(), pieces_.end(), [&](const Piece& piece) { return piece.fromNs <= hostNs; });
  if (after == pieces_.begin())
    return hostNs;
  const Piece& piece = *std::prev(after);
  return hostNs + piece.offsetNs + drifted(hostNs - piece.fromNs, piece.driftPpb);
}

std::int64_t HostClock::toHost(std::int64_t jobNs) const {
  // The map moves times only little, and hardly changes over that distance: two steps are enough.
  std::int64_t hostNs = jobNs;
  for (int step = 0; step < 3; ++step)
    hostNs -= toJob(hostNs) - jobNs;
  return hostNs;
}

}  // namespace sonde::gui
