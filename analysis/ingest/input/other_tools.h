// Recognises files of other profilers that cannot be imported, and suggests a remedy. A free
// function; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sonde::ingest {

// A description of the file that begins with `head` (inflated), as the rest of a sentence after its
// name: "is a Perfetto trace …: convert it with …". Empty: not a known one.
std::string otherToolsFile(const std::filesystem::path& file, std::string_view head);

}  // namespace sonde::ingest
