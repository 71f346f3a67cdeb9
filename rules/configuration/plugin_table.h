// The table [plugins] of sonde.toml. A plain function; any thread.
#pragma once

#include "base/result.h"
#include "rules/engine/check.h"

#include <toml++/toml.h>

#include <string>

namespace sonde::rules {

// The rules of all shared objects of `files`, which are relative to the folder of the rules file.
// InvalidArgument: the table or a shared object is wrong.
Result<OwnedRules> readPluginTable(const toml::node& table, const std::string& path);

}  // namespace sonde::rules
