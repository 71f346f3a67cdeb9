// A breakdown as JSON, as tables, and as sentences. Pure functions.
#pragma once

#include "analysis/engine/breakdown/breakdown.h"
#include "cli/text/table.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {

// `by`: the words of --by. docs/cli/breakdown.md has the keys.
nlohmann::json breakdownJson(const engine::breakdown::Breakdown& result,
                             const std::vector<std::string>& by);

// A row for each row of the breakdown, and for each category that was entered.
Table rowTable(const engine::breakdown::Breakdown& result, const engine::breakdown::Dimensions& by);
Table enteredTable(const engine::breakdown::Breakdown& result,
                   const engine::breakdown::Dimensions& by);

// Notes that a reader of the table needs.
std::string notesOf(const engine::breakdown::Breakdown& result);

}  // namespace sonde::cli
