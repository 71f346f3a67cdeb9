// The job's use of its machines in a report. The same tables are the sections of `--full` and keys of
// the JSON document. Pure functions.
#pragma once

#include "analysis/engine/report/usage_report.h"
#include "cli/report/report_lines.h"

#include <cstddef>
#include <cstdint>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

using engine::report::RankBound;
using engine::report::UsageReport;

// One or two lines for each of the first `limit` subjects with a result, the number of further
// ones, and a blank line in front.
Lines usageLines(const UsageReport& usage, std::size_t limit);

// All tables, each with its heading; for unrecorded ones a note.
Lines usageSections(const UsageReport& usage, std::int64_t originNs);

void addUsageJson(nlohmann::json& document, const UsageReport& usage, std::int64_t originNs);

}  // namespace sonde::cli
