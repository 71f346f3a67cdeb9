// All results of this folder for a job, by rank, device and stream; the input of reports. Covers
// the ranks' windows without masked iterations; collectives and clocks cover the whole trace. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/engine/device/collectives.h"
#include "analysis/engine/device/device_time.h"
#include "analysis/engine/device/host_costs.h"
#include "analysis/engine/device/queue_length.h"
#include "analysis/engine/device/stragglers.h"
#include "analysis/engine/device/stream_idle.h"
#include "analysis/engine/device/work_tables.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::engine::device {

struct StreamSummary {
  std::int64_t number = 0;
  StreamIdle idle;
  QueueLength queue;
};

struct StepTime {
  std::int64_t number = 0;
  DeviceTime time;
};

struct DeviceSummary {
  std::string name;
  DeviceTime time;              // in the rank's window
  std::vector<StepTime> steps;  // its iterations
  std::vector<StreamSummary> streams;
  std::vector<KernelRow> kernels;
  std::vector<CopyRow> copies;
  std::vector<LaunchRow> launches;
};

struct RankSummary {
  std::vector<DeviceSummary> devices;  // empty for a rank without devices
  HostCosts costs;
};

struct JobSummary {
  std::vector<RankSummary> ranks;  // in the order of the given processes
  std::vector<JoinedCollective> collectives;
  std::vector<CollectiveRow> collectiveRows;
  ClockCheck clocks;
  StragglerVerdict stragglers;
  std::unordered_map<std::int64_t, std::string> names;  // by `nameId`

  const std::string& nameOf(std::int64_t nameId) const noexcept;
};

Result<JobSummary> summarise(const store::Database& trace,
                             const std::vector<metrics::RankProcess>& processes);

}  // namespace sonde::engine::device
