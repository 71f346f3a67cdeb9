// The job's use of its machines: memory, stalls, changes of its iterations, energy, and whether
// host or device waited for the other. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/changes/iteration_changes.h"
#include "analysis/engine/device/bound_time.h"
#include "analysis/engine/energy/energy_use.h"
#include "analysis/engine/memory/memory_use.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/engine/metrics/file_calls.h"
#include "analysis/engine/metrics/stalls.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::report {

struct RankBound {
  std::optional<std::int64_t> rank;
  std::string process;
  std::vector<device::BoundTime> devices;
};

struct UsageReport {
  std::vector<metrics::MemoryUse> memory;
  std::vector<metrics::RankStalls> stalls;  // of the ranks
  std::vector<metrics::FileCalls> files;
  std::vector<changes::RankChanges> changes;
  std::vector<energy::EnergyUse> energy;
  std::vector<RankBound> bound;  // of the ranks with devices
};

// `throughput`: as recorded, like energy.
Result<UsageReport> readUsage(const store::Database& trace,
                              const std::vector<metrics::RankProcess>& ranks,
                              const std::vector<metrics::Throughput>& throughput,
                              const metrics::Clocks& clocks);

}  // namespace sonde::engine::report
