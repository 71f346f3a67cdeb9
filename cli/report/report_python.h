// The part of a report on how Python programs' time splits into interpreter and native code. Pure
// functions.
#pragma once

#include "cli/report/report_lines.h"
#include "cli/report/report_text.h"

namespace sonde::cli {

// By operation, over all processes. Empty if no native calls were recorded.
Lines pythonLines(const JobReport& report, std::size_t limit);

nlohmann::json pythonJson(const JobReport& report);

}  // namespace sonde::cli
