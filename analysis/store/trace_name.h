// A trace's place in the file system: giving a finished one its name, and removing one, each with
// what SQLite keeps beside the file. Free functions; any thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string_view>
#include <vector>

namespace sonde::store {

// Where a trace is written before it gets its name: beside it, so that it can be renamed.
std::filesystem::path partOf(const std::filesystem::path& output);

// The trace and what SQLite may keep beside it.
std::vector<std::filesystem::path> filesOf(const std::filesystem::path& trace);

// InvalidArgument when something has that name already and may not be replaced.
Result<void> checkName(const std::filesystem::path& output, bool replace);
// The same, and InvalidArgument when it or its `.part` is one of the inputs, or the `.part` is that
// of a recording or written by another process now; Io when its folder is not there or cannot be
// written. `option`: that names the output.
Result<void> checkOutput(const std::filesystem::path& output,
                         bool replace,
                         const std::vector<std::filesystem::path>& inputs = {},
                         std::string_view option = "-o");

// Removes what SQLite keeps beside a trace: it would play an earlier file's into a new one.
// Requires: nobody has the trace open.
void removeLogs(const std::filesystem::path& path);

// Removes a trace, if there is one. Requires: nobody writes it.
void removeTrace(const std::filesystem::path& path);

// Gives a finished file its name. What `to` names is replaced only with `replace`; else
// InvalidArgument, and both stay as they are. Io: it cannot be renamed.
Result<void> takeName(const std::filesystem::path& from,
                      const std::filesystem::path& to,
                      bool replace);
// The same, of a trace that stands alone, without a log beside it.
Result<void> renameTrace(const std::filesystem::path& from,
                         const std::filesystem::path& to,
                         bool replace);

}  // namespace sonde::store
