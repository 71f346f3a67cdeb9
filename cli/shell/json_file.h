// Reads JSON files that another verb of `sonde` wrote. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <string>

#include <nlohmann/json.hpp>

namespace sonde::cli {

// An object. `kind` says which file is meant, as in "a cost file of sonde calibrate". Io, Corrupt:
// the file cannot be read or holds something else; the message has its name and `kind`.
Result<nlohmann::json> readJsonFile(const std::string& path, const std::string& kind);

// An error in the content of a file, with its name and, if it is Corrupt, `kind`.
Error errorOfFile(const std::string& path, const std::string& kind, const Error& error);

// nlohmann's message without its own numbers: "[json.exception.out_of_range.403] key 'overhead' not
// found".
std::string reasonOf(const nlohmann::json::exception& error);

}  // namespace sonde::cli
