// The questions of `sonde whatif --ask` as a table and as JSON. Plain functions.
#pragma once

#include "cli/text/table.h"
#include "cli/whatif/added_questions.h"

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

// Sonde's own, then `added`.
Table listTable(const AddedQuestions& added);
// The same, with the settings and candidates of `added`.
nlohmann::json listJson(const AddedQuestions& added);

}  // namespace sonde::cli
