// The plan of `sonde optimize` as text, JSON and tables. Plain functions.
#pragma once

#include "analysis/engine/optimise/plan.h"
#include "cli/text/table.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

// `seconds`: how long the search took.
nlohmann::json jsonOf(const engine::optimise::Plan& plan, double seconds);
std::string textOf(const engine::optimise::Plan& plan, double seconds);
// The changes of the plan.
Table planTable(const engine::optimise::Plan& plan);

}  // namespace sonde::cli
