// A report by the definitions of HolisticTraceAnalysis (`--compat hta`) as text, tables and JSON.
// Pure functions.
#pragma once

#include "analysis/engine/hta/hta_report.h"
#include "cli/text/table.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

using engine::hta::HtaRank;
using engine::hta::HtaReport;

std::string renderHta(const HtaReport& report);
// Temporal breakdown and overlap, one row per rank.
Table htaTable(const HtaReport& report);
// Replaces `ranks` by HTA's numbers and adds all tables as `hta`. Durations are in ns, rounded to
// whole microseconds.
void addHtaJson(nlohmann::json& document, const HtaReport& report);

}  // namespace sonde::cli
