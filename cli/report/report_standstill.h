// The first lines of a report on a job that stood still: since when, who is in which call, and who
// has not entered the collective that the others wait in. Pure functions.
#pragma once

#include "analysis/engine/standstill/standstill.h"
#include "cli/report/report_lines.h"

#include <cstdint>
#include <optional>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

// `originNs`: origin of the times in texts. Empty if the job did not stand still.
Lines standstillLines(const std::optional<engine::standstill::Standstill>& standstill,
                      std::int64_t originNs,
                      bool full);

// Null if the job did not stand still. Times are absolute, on the job's clock.
nlohmann::json standstillJson(const std::optional<engine::standstill::Standstill>& standstill);

}  // namespace sonde::cli
