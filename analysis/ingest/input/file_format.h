// Finds out from a file's content which profiler wrote it. A free function; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>

namespace sonde::ingest {

enum class FileFormat : std::uint8_t {
  TraceEvents,  // JSON; also the default
  Sqlite,
  Chakra,  // length-delimited messages; also a file with this suffix that is damaged at its begin
  Pickle,
  FlightRecorder,  // JSON
};

// Errors are ByteSource's. Unsupported: a known format that must be unpacked or exported first, or
// another tool's file; the message has the remedy. Corrupt: the file is empty.
Result<FileFormat> formatOf(const std::filesystem::path& file);

}  // namespace sonde::ingest
