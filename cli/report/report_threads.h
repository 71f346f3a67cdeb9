// The part of a text report that says where threads' time went. Pure functions.
#pragma once

#include "cli/report/report_lines.h"
#include "cli/report/report_text.h"

namespace sonde::cli {

// Of the threads that the iterations ran on, or the ranks' first threads where there are none;
// `full`: of all. Nothing where nobody asked the scheduler.
Lines threadLines(const JobReport& report, bool full, std::size_t limit);

nlohmann::json threadsJson(const JobReport& report);

}  // namespace sonde::cli
