// The report of a job: what is in it, and how it looks to a person and as JSON. Plain values and
// pure functions; reading uses the database's thread.
#pragma once

#include "analysis/engine/device/device_summary.h"
#include "analysis/engine/metrics/python_time.h"
#include "analysis/engine/metrics/run_facts.h"
#include "analysis/engine/metrics/thread_time.h"
#include "analysis/engine/metrics/throughput.h"
#include "analysis/engine/metrics/traffic.h"
#include "analysis/engine/standstill/standstill.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "cli/report/report_times.h"
#include "cli/report/report_usage.h"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

struct JobReport {
  engine::metrics::RunFacts facts;
  std::optional<engine::standstill::Standstill> standstill;
  std::vector<RankReport> ranks;
  RecordingCost recordingCost;
  std::vector<engine::metrics::PeerTraffic> traffic;
  engine::metrics::Conservation conservation;
  std::vector<engine::metrics::ScalarTrend> scalars;
  std::vector<engine::metrics::ThreadTime> threads;
  std::vector<engine::metrics::PythonTime> python;
  std::vector<engine::metrics::Throughput> throughput;     // of the ranks
  std::vector<engine::metrics::Throughput> rawThroughput;  // as recorded
  engine::device::JobSummary devices;                      // its ranks are these ranks
  UsageReport usage;
};

// `peakFlops`: of a rank's devices, a second; none: what is known of them. `clocks`: by which the
// times of `ranks`, throughput, stalls and changes are told; all others are as recorded.
Result<JobReport> readReport(const store::Database& trace,
                             std::optional<double> peakFlops,
                             const engine::metrics::Clocks& clocks);

// At most 40 lines of 100 characters, unless `full`: where there is more to say fewer rows, then
// not all parts, which the last line names. Head and foot (losses, warnings, what recording took)
// never give way, and it is longer only where they leave no room for a row of each table.
std::string renderReport(const JobReport& report, bool full);

// What time without computing, communicating and copying is called: "idle" of a device; of a
// process without one "other", since it may have been busy with what no probe saw.
std::string idleTitle(const JobReport& report);

// The document that DESIGN calls `report`. `full`: also what there is one of for each call.
nlohmann::json reportJson(const JobReport& report, bool full);

}  // namespace sonde::cli
