// What recording took, in the text of a full report: each time as it was recorded, without that,
// and between what it may be. Plain values: no thread rules.
#pragma once

#include "cli/report/report_lines.h"
#include "cli/report/report_text.h"

namespace sonde::cli {

// Empty: nobody knows what recording took.
Lines recordingLines(const JobReport& report);

}  // namespace sonde::cli
