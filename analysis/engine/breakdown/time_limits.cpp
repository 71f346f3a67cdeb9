#include "analysis/engine/breakdown/time_limits.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/store/each_row.h"

#include <unordered_map>

namespace sonde::engine::breakdown {

Result<void> limitTo(const store::Database& trace, metrics::Interval range, TraceEvents& events) {
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  std::unordered_map<std::int64_t, std::int64_t> hosts;  // by process
  SONDE_TRY(store::forEachRow(
      trace, "SELECT id, host_id FROM process", [&](const store::Statement& row) -> Result<void> {
        hosts.emplace(row.integer(0), row.integer(1));
        return {};
      }));
  for (ProcessEvents& process : events.processes) {
    const align::HostClock host = clock.clockOf(hosts[process.id]);
    process.within = Extent{host.toHost(range.begin), host.toHost(range.end)};
  }
  return {};
}

}  // namespace sonde::engine::breakdown
