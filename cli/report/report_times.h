// The cost of recording in words and as JSON. Pure functions.
#pragma once

#include "analysis/engine/report/rank_report.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

using engine::report::RankReport;
using engine::report::RecordingCost;

// "recording took 4.1 % of an iteration (3.6 to 4.7 %), subtracted from these times"; empty: no
// statement.
std::string costText(const RecordingCost& cost);
// "with probes off iterations are 5.1 % shorter still (± 1.2 %), which no event accounts for".
std::string unexplainedText(const engine::correction::Unexplained& unexplained);
// `{share, error}`; null: unknown.
nlohmann::json unexplainedJson(const engine::correction::Unexplained& unexplained);
// `{corrected, ns, raw_ns, low_ns, high_ns, share, low, high, of, unknown[], unexplained,
// recorder_share}`.
nlohmann::json costJson(const RecordingCost& cost);

}  // namespace sonde::cli
