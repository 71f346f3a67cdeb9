#include "analysis/engine/device/device_summary.h"

#include "analysis/store/statement.h"

#include <utility>

namespace sonde::engine::device {
namespace {

DeviceSummary summaryOf(const DeviceWork& device,
                        const metrics::RankProcess& process,
                        const metrics::Intervals& counted) {
  DeviceSummary summary;
  summary.name = device.name;
  const std::vector<Activity> activity = activityOf(device);
  summary.time = timeIn(activity, counted);
  for (const metrics::IterationTime& step : process.iterations)
    summary.steps.push_back(
        {step.number, timeIn(activity, {step.startNs, step.startNs + step.durNs})});
  const auto idle = idleOf(device, activity, process.window);
  for (std::size_t at = 0; at < device.streams.size(); ++at)
    summary.streams.push_back({device.streams[at].number,
                               idleIn(idle[at], counted),
                               queueIn(device.streams[at], counted)});
  summary.kernels = kernelsIn(device, counted);
  summary.copies = copiesIn(device, counted);
  summary.launches = launchesIn(device, counted);
  return summary;
}

Result<void> readNames(const store::Database& trace, JobSummary& job) {
  SONDE_TRY_ASSIGN(store::Statement text, trace.prepare("SELECT text FROM string WHERE id = ?1"));
  for (auto& [id, name] : job.names) {
    SONDE_TRY_ASSIGN(const bool isThere, text.bindAll(id).step());
    if (isThere)
      name = text.text(0);
    text.reset();
  }
  return {};
}

void wantNames(const DeviceSummary& device, JobSummary& job) {
  for (const KernelRow& kernel : device.kernels)
    job.names.try_emplace(kernel.nameId);
  for (const LaunchRow& launch : device.launches)
    job.names.try_emplace(launch.callNameId);
}

}  // namespace

const std::string& JobSummary::nameOf(std::int64_t nameId) const noexcept {
  static const std::string kUnknown = "unknown";
  const auto found = names.find(nameId);
  return found == names.end() ? kUnknown : found->second;
}

Result<JobSummary> summarise(const store::Database& trace,
                             const std::vector<metrics::RankProcess>& processes) {
  JobSummary job;
  for (const metrics::RankProcess& process : processes) {
    RankSummary& rank = job.ranks.emplace_back();
    const metrics::Intervals counted = metrics::countedOf(process);
    SONDE_TRY_ASSIGN(const std::vector<DeviceWork> devices, readDevices(trace, process.processId));
    for (const DeviceWork& device : devices) {
      rank.devices.push_back(summaryOf(device, process, counted));
      wantNames(rank.devices.back(), job);
    }
    SONDE_TRY_ASSIGN(rank.costs, hostCosts(trace, process.processId, devices, counted));
  }
  SONDE_TRY(readNames(trace, job));
  SONDE_TRY_ASSIGN(job.collectives, readCollectives(trace));
  job.collectiveRows = collectiveRows(job.collectives);
  job.clocks = checkClocks(job.collectives);
  job.stragglers = findStragglers(job.collectives, processes);
  return job;
}

}  // namespace sonde::engine::device
