// The trace that a verb makes out of others: it is written as "….part", beside its output so that
// it can be renamed, and gets its name when it is whole. Free functions; any thread.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>

namespace sonde::store {

std::filesystem::path partOf(const std::filesystem::path& output);

// InvalidArgument when something has that name already and may not be replaced.
Result<void> checkOutput(const std::filesystem::path& output, bool overwrite);

// Deletes what stands there, with SQLite's files beside it; nothing is no error.
void removeTrace(const std::filesystem::path& path);

// Gives the finished trace its name. Io when the system refuses; then it stays where it is.
Result<void> publish(const std::filesystem::path& part, const std::filesystem::path& output);

}  // namespace sonde::store
