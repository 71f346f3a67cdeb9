// Where a recording writes its trace: converts `-o` to a path, and claims the path. Plain
// functions; any thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace sonde::recorder {

struct OutputRequest {
  std::string pattern;  // as given with -o; empty: not given
  std::string program;  // the command's first word
  int pid = 0;          // of the job's main process
  std::string host;
  std::optional<int> rank;
  std::function<std::optional<std::string>(const std::string&)> variable;  // of the environment
};

// Replaces `%h %p %r %q{VAR} %%`. Completes a folder (it exists, or ends in a slash) with
// `rank<N>.sonde` or `<program>-<pid>.sonde`. The result is absolute.
Result<std::filesystem::path> outputPath(const OutputRequest& request);

// Creates the folders and an empty `.part`, which then belongs to the caller: to be recorded into,
// or removed. Refuses an output, or a `.part`, that already exists, unless `force`; then an old
// `.part` is removed. Busy: a `.part` exists, which another recorder may be writing. If several
// callers claim the same output, one succeeds.
Result<void> claimOutput(const std::filesystem::path& output, bool force);

// The error of claimOutput() for an existing `.part`: Busy. `session`: the folder of the session
// that was writing it; empty: `sonde recover` must find it.
Error partTaken(const std::filesystem::path& part, const std::filesystem::path& session);

}  // namespace sonde::recorder
