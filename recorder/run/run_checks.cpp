#include "recorder/run/run_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kLargestTrace = 4ULL << 30;
constexpr std::uint64_t kDiskShare = 10;  // a trace takes at most this part of the free disk

}  // namespace

std::uint64_t traceLimit(const RunOptions& options, const fs::path& output) {
  if (options.maxTraceBytes > 0)
    return options.maxTraceBytes;
  std::error_code failure;
  const auto space = fs::space(output.parent_path(), failure);
  return failure ? kLargestTrace
                 : std::min<std::uint64_t>(kLargestTrace, space.available / kDiskShare);
}

Error cannotBegin(const Error& error, const fs::path& part) {
  if (error.code == ErrorCode::Busy)
    return {error.code, fmt::format("{}: give another name with -o", error.message)};
  return {
      error.code,
      error.code == ErrorCode::NoSpace
          ? fmt::format("{} has no room ({}): free some space, or give another place with -o",
                        part.string(),
                        error.message)
          : fmt::format(
                "cannot write {} ({}): give another place with -o", part.string(), error.message)};
}

std::string hindranceOf(const launcher::RunOutcome& outcome) {
  if (outcome.askedToEnd)
    return "a signal requested the job's end";
  if (outcome.waitStatus != 0)
    return "the job has failed";
  return outcome.restRunning ? "processes of the job still run" : "";
}

}  // namespace sonde::recorder
