// The work that the ranks complete, in a report. Pure functions.
#pragma once

#include "cli/report/report_lines.h"
#include "cli/report/report_text.h"

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

// A line for all ranks together, then one for each; empty if nothing is known.
Lines throughputLines(const JobReport& report, std::size_t limit);

nlohmann::json throughputJson(const JobReport& report);

}  // namespace sonde::cli
