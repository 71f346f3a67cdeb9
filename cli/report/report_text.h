// The report of a job as text and JSON. Pure functions.
#pragma once

#include "analysis/engine/report/report.h"
#include "cli/report/report_times.h"
#include "cli/report/report_usage.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

using engine::report::JobReport;

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
