#include "analysis/engine/whatif/network/processor_limit.h"

#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/whatif/network/driver_times.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sonde::engine::whatif {
namespace {

// The kernel's part of moving data takes about as long as that of threads. Half of it was measured
// already, as the time of threads that it interrupted.
constexpr double kWithKernel = 1.5;

struct HostRow {
  std::int64_t hostId = 0;
  std::int64_t processors = 0;

  SONDE_COLUMNS(hostId, processors)
};

// The processors of a host for each rank on it; without hosts that did not say.
Result<std::map<std::int64_t, double>> processorsOfRanks(
    const store::Database& trace,
    const graph::Graph& graph,
    const std::map<graph::LaneIndex, DriverTimes>& drivers) {
  std::map<std::int64_t, double> ranks;
  for (const auto& [lane, times] : drivers)
    ++ranks[graph.lanes[lane].hostId];
  std::map<std::int64_t, double> found;
  SONDE_TRY(store::forEach<HostRow>(
      trace,
      "SELECT id AS host_id, cpu_count AS processors FROM host WHERE cpu_count > 0",
      [&](const HostRow& row) {
        if (const auto of = ranks.find(row.hostId); of != ranks.end())
          found[row.hostId] = static_cast<double>(row.processors) / of->second;
      }));
  return found;
}

}  // namespace

Result<void> checkProcessors(Asking& asking) {
  const graph::TraceGraph& job = asking.scenario.job();
  SONDE_TRY_ASSIGN(const auto drivers, readDriverTimes(asking.trace, job));
  if (drivers.empty() || !drivers.begin()->second.isTcp)
    return {};
  SONDE_TRY_ASSIGN(const auto processors, processorsOfRanks(asking.trace, job.graph, drivers));
  const double before = replay::meanIterationNs(job, {job.graph.beginNs, job.graph.durNs});
  const double after = replay::meanIterationNs(job, asking.scenario.replay());
  double most = 0;  // time of a rank's processors that an iteration needs
  for (const auto& [lane, of] : drivers) {
    const auto has = processors.find(job.graph.lanes[lane].hostId);
    if (has != processors.end() && of.spanNs > 0)
      most =
          std::max(most, (of.ownNs + kWithKernel * of.othersNs) / of.spanNs * before / has->second);
  }
  if (after <= 0 || most <= after)
    return {};
  asking.orderError = std::max(asking.orderError, (most / after - 1) / 2);
  asking.notes.push_back(fmt::format(
      "processors may be the limit: the threads of a rank, and the kernel for them, need up to "
      "{:.3g} ms of its processors in an iteration to compute and to move data",
      most / 1e6));
  return {};
}

}  // namespace sonde::engine::whatif
