#include "analysis/engine/breakdown/time_limits.h"

#include "analysis/engine/align/job_clock.h"
namespace sonde::engine::breakdown {

Result<void> limitTo(const store::Database& trace, metrics::Interval range, TraceEvents& events) {
  SONDE_TRY_ASSIGN(align::ProcessClocks clocks, align::readProcessClocks(trace));
  for (ProcessEvents& process : events.processes) {
    const align::HostClock& host = clocks[process.id];
    process.within = Extent{host.toHost(range.begin), host.toHost(range.end)};
  }
  return {};
}

}  // namespace sonde::engine::breakdown
