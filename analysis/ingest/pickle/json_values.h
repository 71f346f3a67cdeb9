// Reads JSON text into the same values as a pickle. A free function; any thread.
#pragma once

#include "analysis/ingest/pickle/value_tree.h"
#include "base/result.h"

#include <filesystem>
#include <string>

namespace sonde::ingest {

// Corrupt: the text is not one JSON value, is too deep, or needs too much memory. Errors name the
// file and the byte offset.
Result<ValueTree> readJsonValues(std::string bytes, const std::filesystem::path& file);

}  // namespace sonde::ingest
