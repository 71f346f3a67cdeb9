#include "analysis/engine/report/usage_report.h"

#include "analysis/engine/device/device_work.h"

#include <utility>

namespace sonde::engine::report {
namespace {

metrics::Intervals busyTime(const std::vector<device::DeviceWork>& devices,
                            const metrics::Clock& clock) {
  metrics::Intervals busy;
  for (const device::DeviceWork& each : devices)
    for (const device::StreamWork& stream : each.streams)
      for (const device::Work& work : stream.work)
        busy.push_back({clock.ofStream(stream.streamId, work.begin),
                        clock.ofStream(stream.streamId, work.end)});
  return metrics::normalise(std::move(busy));
}

}  // namespace

Result<UsageReport> readUsage(const store::Database& trace,
                              const std::vector<metrics::RankProcess>& ranks,
                              const std::vector<metrics::Throughput>& throughput,
                              const metrics::Clocks& clocks) {
  UsageReport usage;
  SONDE_TRY_ASSIGN(usage.memory, metrics::memoryUses(trace, ranks));
  SONDE_TRY_ASSIGN(usage.files, metrics::fileCallsOf(trace, ranks));
  SONDE_TRY_ASSIGN(usage.changes,
                   changes::iterationChanges(
                       trace, ranks, {clocks.correction().has_value(), clocks.measured()}));
  SONDE_TRY_ASSIGN(usage.energy, energy::energyUses(trace, ranks, throughput));
  for (const metrics::RankProcess& rank : ranks) {
    SONDE_TRY_ASSIGN(const auto devices, device::readDevices(trace, rank.processId));
    std::optional<metrics::Intervals> busy;
    if (!devices.empty())
      busy = busyTime(devices, clocks.best());
    SONDE_TRY_ASSIGN(metrics::RankStalls stalls,
                     metrics::stallsOf(trace, rank, busy, clocks.best()));
    usage.stalls.push_back(std::move(stalls));
    SONDE_TRY_ASSIGN(auto bound, device::boundTimes(trace, rank, devices));
    if (!bound.empty())
      usage.bound.push_back({rank.rank, rank.name, std::move(bound)});
  }
  return usage;
}

}  // namespace sonde::engine::report
