// The report of a job: its content, and its text and JSON forms. Plain values and pure functions;
// reading uses the database's thread.
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
  engine::device::JobSummary devices;                      // has the same ranks
  UsageReport usage;
};

// `peakFlops`: per second, for all devices of a rank; unset: from the devices' names. `clocks`
// apply to `ranks`, throughput, stalls and changes; all other times are as recorded.
Result<JobReport> readReport(const store::Database& trace,
                             std::optional<double> peakFlops,
                             const engine::metrics::Clocks& clocks);

// At most 40 lines of 100 characters, unless `full`. If there is more, tables get fewer rows, then
// parts are left out, which the last line lists. Head and foot (losses, warnings, cost of
// recording) always stay. The report is longer only if they leave no room for a row of each table.
std::string renderReport(const JobReport& report, bool full);

// The word for time without computing, communicating and copying: "idle" for a device. For a
// process without one "other", since unrecorded work may have kept it busy.
std::string idleTitle(const JobReport& report);

// The report as a JSON document; docs/cli/report.md lists the keys. `full`: also entries per call.
nlohmann::json reportJson(const JobReport& report, bool full);

}  // namespace sonde::cli
