// The code in the memory of a process, from /proc/PID/maps. Not thread-safe.
#pragma once

#include "analysis/ingest/stacks/code_file.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

// Executable memory of a process, from `start` up to `end`.
struct CodeRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t fileOffset = 0;
  std::string path;  // the kernel's text: "[vdso]", "/lib/… (deleted)"; empty: no file
};

// The executable ranges among the lines of /proc/PID/maps.
std::vector<CodeRange> parseMaps(std::string_view lines);

// A range with its file.
struct MappedCode {
  CodeRange range;
  std::shared_ptr<const CodeFile> file;  // nullptr: no file, or an unreadable one
  std::uint64_t bias = 0;                // subtract it from an address to get the file's own
};

class CodeMap {
 public:
  // Takes a new look at the process: adds new ranges, and drops those that another range overlaps.
  // Returns the new ones.
  std::vector<CodeRange> update(std::vector<CodeRange> seen);

  // The code at `address`; nullptr if there was none at the last update. Valid until update().
  const MappedCode* find(std::uint64_t address);

 private:
  struct Entry {
    MappedCode code;
    bool opened = false;
  };
  std::vector<Entry> entries_;  // by start, without overlaps
};

}  // namespace sonde::ingest
