// Which profiler wrote a file, by what is in it. A free function; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>

namespace sonde::ingest {

enum class FileFormat : std::uint8_t {
  TraceEvents,  // JSON, also when nothing else is recognised
  Sqlite,
  Chakra,  // length-delimited messages; also a file named so that is damaged at its begin
};

// Errors are ByteSource's. Unsupported: it is known, but has to be
// unpacked or exported first, or another tool's; the message says what to do. Corrupt: it is empty.
Result<FileFormat> formatOf(const std::filesystem::path& file);

}  // namespace sonde::ingest
