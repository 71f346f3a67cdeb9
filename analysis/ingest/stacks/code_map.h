// Which code lies where in a process, by /proc/PID/maps. Not thread-safe.
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
  std::string path;  // as the kernel says: "[vdso]", "/lib/… (deleted)"; empty: no file
};

// The executable ranges among the lines of /proc/PID/maps.
std::vector<CodeRange> parseMaps(std::string_view lines);

// A range with its file.
struct MappedCode {
  CodeRange range;
  std::shared_ptr<const CodeFile> file;  // nullptr: none, or none that can be read
  std::uint64_t bias = 0;                // what to subtract from an address for the file's own
};

class CodeMap {
 public:
  // Another look at the process: takes up what is new, and forgets what another range lies over.
  // Returns the new ones.
  std::vector<CodeRange> update(std::vector<CodeRange> seen);

  // The code at `address`; nullptr where there was none when one last looked. Valid until update().
  const MappedCode* find(std::uint64_t address);

 private:
  struct Entry {
    MappedCode code;
    bool opened = false;
  };
  std::vector<Entry> entries_;  // by start, without overlaps
};

}  // namespace sonde::ingest
