// The part of a text report on where threads' time went. Pure functions.
#pragma once

#include "cli/report/report_lines.h"
#include "cli/report/report_text.h"

namespace sonde::cli {

// Covers the threads with iterations, or the ranks' first threads if there are none; `full`: all
// threads. Empty if the scheduler's totals were not recorded.
Lines threadLines(const JobReport& report, bool full, std::size_t limit);

nlohmann::json threadsJson(const JobReport& report);

}  // namespace sonde::cli
