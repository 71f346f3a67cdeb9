// The answer of `sonde whatif` as text, JSON and tables. Plain functions.
#pragma once

#include "analysis/engine/whatif/answer.h"
#include "cli/text/table.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

nlohmann::json jsonOf(const engine::whatif::Answer& answer);
std::string textOf(const engine::whatif::Answer& answer);
// The lines of the critical paths.
Table pathTable(const std::vector<engine::whatif::ChangedShare>& shares);

}  // namespace sonde::cli
