// The numbers of `sonde report`: all that is known of a job, for text, JSON and the window. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/engine/device/device_summary.h"
#include "analysis/engine/metrics/python_time.h"
#include "analysis/engine/metrics/run_facts.h"
#include "analysis/engine/metrics/thread_time.h"
#include "analysis/engine/metrics/throughput.h"
#include "analysis/engine/metrics/traffic.h"
#include "analysis/engine/report/path_report.h"
#include "analysis/engine/report/rank_report.h"
#include "analysis/engine/report/usage_report.h"
#include "analysis/engine/standstill/standstill.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <optional>
#include <vector>

namespace sonde::engine::report {

struct JobReport {
  metrics::RunFacts facts;
  std::optional<standstill::Standstill> standstill;
  std::vector<RankReport> ranks;
  RecordingCost recordingCost;
  std::vector<metrics::PeerTraffic> traffic;
  metrics::Conservation conservation;
  std::vector<metrics::ScalarTrend> scalars;
  std::vector<metrics::ThreadTime> threads;
  std::vector<metrics::PythonTime> python;
  std::vector<metrics::Throughput> throughput;     // of the ranks
  std::vector<metrics::Throughput> rawThroughput;  // as recorded
  device::JobSummary devices;                      // has the same ranks
  UsageReport usage;
  PathReport path;
};

// `peakFlops`: per second, for all devices of a rank; unset: from the devices' names. `clocks`
// apply to `ranks`, throughput, stalls and changes; all other times are as recorded.
Result<JobReport> readReport(const store::Database& trace,
                             std::optional<double> peakFlops,
                             const metrics::Clocks& clocks);

}  // namespace sonde::engine::report
