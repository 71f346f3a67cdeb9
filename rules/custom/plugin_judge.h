// Runs a rule of a plugin in this process: the functions that sonde_rule.h offers it, and the check
// of all that it passes to them. Uses the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "plugins/api/sonde_rule.h"
#include "rules/engine/verdict.h"

#include <vector>

namespace sonde::rules {

// InvalidArgument: the plugin made a mistake, or says so; the message names the function.
Result<std::vector<Finding>> judgeByPlugin(const sonde_rule& rule,
                                           const std::vector<sonde_rule_value>& values,
                                           const store::Database& trace);

}  // namespace sonde::rules
