// The line of a report about the critical path. Pure functions.
#pragma once

#include "analysis/engine/report/path_report.h"
#include "cli/report/report_lines.h"

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

// One paragraph; empty if the trace has no iterations with a path.
Lines pathLines(const engine::report::PathReport& path);

// Its JSON: {iterations, ns, causes[] {cause, what, ns, share}, straggler, checks[], reason}.
nlohmann::json pathJson(const engine::report::PathReport& path);

}  // namespace sonde::cli
