// The job's use of its machines in a report: memory, stalls, changes of its iterations, energy, and
// whether host or device waited for the other. The same tables are the sections of `--full` and
// keys of the JSON document. Plain values and pure functions; reading uses the database's thread.
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
#include "cli/report/report_lines.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

struct RankBound {
  std::optional<std::int64_t> rank;
  std::string process;
  std::vector<engine::device::BoundTime> devices;
};

struct UsageReport {
  std::vector<engine::metrics::MemoryUse> memory;
  std::vector<engine::metrics::RankStalls> stalls;  // of the ranks
  std::vector<engine::metrics::FileCalls> files;
  std::vector<engine::changes::RankChanges> changes;
  std::vector<engine::energy::EnergyUse> energy;
  std::vector<RankBound> bound;  // of the ranks with devices
};

// `throughput`: as recorded, like energy.
Result<UsageReport> readUsage(const store::Database& trace,
                              const std::vector<engine::metrics::RankProcess>& ranks,
                              const std::vector<engine::metrics::Throughput>& throughput,
                              const engine::metrics::Clocks& clocks);

// One or two lines for each of the first `limit` subjects with a result, the number of further
// ones, and a blank line in front.
Lines usageLines(const UsageReport& usage, std::size_t limit);

// All tables, each with its heading; for unrecorded ones a note.
Lines usageSections(const UsageReport& usage, std::int64_t originNs);

void addUsageJson(nlohmann::json& document, const UsageReport& usage, std::int64_t originNs);

}  // namespace sonde::cli
