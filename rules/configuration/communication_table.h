// Reads the table [communication] of sonde.toml: names of kernels that communicate. Any thread.
#pragma once

#include "base/result.h"

#include <toml++/toml.h>

#include <string>
#include <vector>

namespace sonde::rules {

// The patterns of the table; empty without one. Errors as readConfiguration().
Result<std::vector<std::string>> communicationIn(const toml::table& file, const std::string& path);

}  // namespace sonde::rules
