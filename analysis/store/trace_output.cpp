#include "analysis/store/trace_output.h"

#include <fmt/format.h>

#include <string>
#include <system_error>

namespace sonde::store {

namespace fs = std::filesystem;

fs::path partOf(const fs::path& output) {
  return output.string() + ".part";
}

Result<void> checkOutput(const fs::path& output, bool overwrite) {
  std::error_code ignored;
  if (!overwrite && fs::exists(output, ignored))
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("'{}' exists: give -f to replace it, or -o another name", output.string())};
  return {};
}

void removeTrace(const fs::path& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    fs::remove(path.string() + suffix, ignored);
}

Result<void> publish(const fs::path& part, const fs::path& output) {
  std::error_code problem;
  fs::rename(part, output, problem);
  if (problem)
    return Error{ErrorCode::Io,
                 fmt::format("cannot rename '{}' to '{}' ({}): the trace is in the former",
                             part.string(),
                             output.string(),
                             problem.message())};
  return {};
}

}  // namespace sonde::store
