// Reads the tables [sql.NAME] of sonde.toml: rules that users write in SQL. Any thread.
#pragma once

#include "base/result.h"
#include "rules/engine/check.h"

#include <toml++/toml.h>

#include <string>

namespace sonde::rules {

// Adds the rules of the table `sql` to the configuration, which has those of plugins. `fallback`:
// the severity of a rule that does not state its own. Errors as readConfiguration().
Result<void> readSqlTables(const toml::node& sql,
                           const std::string& path,
                           Severity fallback,
                           Configuration& configuration);

}  // namespace sonde::rules
