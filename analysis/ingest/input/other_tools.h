// Files of tools that profile training, too, and that cannot be imported: what they are, and what
// to do instead. A free function; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sonde::ingest {

// What a file is that begins with `head` (inflated), as the end of a sentence that begins with its
// name: "is a Perfetto trace …: convert it with …". Empty: none of those that are known.
std::string otherToolsFile(const std::filesystem::path& file, std::string_view head);

// The same of a JSON dump of PyTorch's NCCL flight recorder, which is told by its members.
extern const char* const kFlightRecorder;

}  // namespace sonde::ingest
