// A JSON file that `sonde baseline` wrote, before its members are read. Plain functions; any
// thread.
#pragma once

#include "base/result.h"

#include <string>

#include <nlohmann/json.hpp>

namespace sonde::rules {

// Whether the file seems to be one: it begins with '{'. A file that cannot be read is none.
bool isBaselineFile(const std::string& path);

// Io: it cannot be read. Corrupt: it is not JSON, cut off or too large. The message names the file.
Result<nlohmann::json> readBaselineDocument(const std::string& path);

// The member "kind"; empty: there is none.
std::string kindOf(const nlohmann::json& document);

}  // namespace sonde::rules
