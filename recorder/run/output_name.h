// Where a recording writes its trace: the words of `-o` turned into a path, and the claim to it.
// Plain functions; any thread.
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

// `%h %p %r %q{VAR} %%` replaced; a folder (it exists, or ends in a slash) completed by
// `rank<N>.sonde` or
// `<program>-<pid>.sonde`. The result is absolute.
Result<std::filesystem::path> outputPath(const OutputRequest& request);

// Makes the folders and an empty `.part`, which is the caller's from then on: to be recorded into,
// or removed. Refuses an output, or a `.part`, that exists already, unless `force`; then an old
// `.part` is removed. Busy for a `.part`, which another recorder may be writing. Of any number of
// callers for the same output one gets it.
Result<void> claimOutput(const std::filesystem::path& output, bool force);

// What claimOutput() says of a `.part` that is there: Busy. `session`: the folder of the session
// that was writing it; empty: `sonde recover` is left to find it.
Error partTaken(const std::filesystem::path& part, const std::filesystem::path& session);

}  // namespace sonde::recorder
