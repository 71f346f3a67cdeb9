// The cost of recording in a full text report: each time as recorded, corrected, and its interval.
// Plain values: no thread rules.
#pragma once

#include "cli/report/report_lines.h"
#include "cli/report/report_text.h"

namespace sonde::cli {

// Empty: the cost of recording is unknown.
Lines recordingLines(const JobReport& report);

}  // namespace sonde::cli
