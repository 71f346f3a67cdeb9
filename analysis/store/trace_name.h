// Names of traces in the file system: gives a finished one its name, and removes one, each with
// SQLite's files beside it. Free functions; any thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string_view>
#include <vector>

namespace sonde::store {

// The path at which a trace is written before it gets its name: beside it, so that it can be
// renamed.
std::filesystem::path partOf(const std::filesystem::path& output);

// The trace and the files that SQLite may keep beside it.
std::vector<std::filesystem::path> filesOf(const std::filesystem::path& trace);

// InvalidArgument: something has that name and may not be replaced.
Result<void> checkName(const std::filesystem::path& output, bool replace);
// The same. Also InvalidArgument if it is "-", or it or its `.part` is an input, or the `.part` is
// a recording's or another process writes it now. Io: its folder is missing or not writable.
// `option` names the output in messages.
Result<void> checkOutput(const std::filesystem::path& output,
                         bool replace,
                         const std::vector<std::filesystem::path>& inputs = {},
                         std::string_view option = "-o");

// Removes SQLite's files beside a trace, which would otherwise be replayed into a new trace.
// Requires: no process has the trace open.
void removeLogs(const std::filesystem::path& path);

// Removes a trace, if it exists. Requires: no process writes it.
void removeTrace(const std::filesystem::path& path);

// Gives a finished file its name. Replaces an existing `to` only with `replace`; else
// InvalidArgument, and both stay as they are. Io: it cannot be renamed.
Result<void> takeName(const std::filesystem::path& from,
                      const std::filesystem::path& to,
                      bool replace);
// The same for a trace without a log beside it.
Result<void> renameTrace(const std::filesystem::path& from,
                         const std::filesystem::path& to,
                         bool replace);

}  // namespace sonde::store
