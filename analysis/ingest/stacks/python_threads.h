// The Python functions that the threads of another process are in, read from its memory by the
// layout of its interpreter. Memory that is not what it should be ends the reading. Plain
// functions; any thread.
#pragma once

#include "analysis/ingest/stacks/code_map.h"
#include "analysis/ingest/stacks/foreign_memory.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::ingest {

struct PythonPlace {
  std::string name;
  std::string path;
  std::uint32_t line = 0;  // where the function begins; 0: unknown
  bool isEntry = false;    // called by native code
};

// By the kernel's thread id, innermost first. Empty: no interpreter, or a version whose threads
// cannot be found from outside: CPython 3.11 and 3.12 can. `code`: the process's executable ranges.
std::map<std::int64_t, std::vector<PythonPlace>> readPythonThreads(
    const ForeignMemory& memory, const std::vector<CodeRange>& code);

}  // namespace sonde::ingest
