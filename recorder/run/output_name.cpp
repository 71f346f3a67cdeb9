#include "recorder/run/output_name.h"

#include "analysis/store/trace_name.h"
#include "base/shell_quote.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

Error invalid(std::string message) {
  return Error{ErrorCode::InvalidArgument, std::move(message)};
}

// Expands one placeholder. `at` is on its letter, and after it on return.
Result<std::string> expandOne(const OutputRequest& request, std::size_t& at) {
  const std::string& pattern = request.pattern;
  const char letter = at < pattern.size() ? pattern[at] : '\0';
  ++at;
  switch (letter) {
    case '%':
      return std::string("%");
    case 'h':
      return request.host;
    case 'p':
      return std::to_string(request.pid);
    case 'r':
      if (!request.rank)
        return invalid(
            fmt::format("{}: the environment gives no rank for %r: use %p, or set RANK", pattern));
      return std::to_string(*request.rank);
    default:
      break;
  }
  const std::size_t close = pattern.find('}', at);
  if (letter != 'q' || at >= pattern.size() || pattern[at] != '{' || close == std::string::npos)
    return invalid(fmt::format(
        "{}: only %h, %p, %r, %q{{NAME}} and %% are known: write %% for a percent sign", pattern));
  const std::string name = pattern.substr(at + 1, close - at - 1);
  at = close + 1;
  if (auto value = request.variable(name))
    return *std::move(value);
  return invalid(fmt::format("{}: the environment has no variable {}: set it", pattern, name));
}

Result<std::string> expand(const OutputRequest& request) {
  std::string text;
  for (std::size_t at = 0; at < request.pattern.size();) {
    const char letter = request.pattern[at++];
    if (letter != '%') {
      text.push_back(letter);
      continue;
    }
    SONDE_TRY_ASSIGN(const std::string value, expandOne(request, at));
    text += value;
  }
  return text;
}

std::string ownName(const OutputRequest& request, bool mayUseRank) {
  if (mayUseRank && request.rank)
    return fmt::format("rank{}.sonde", *request.rank);
  return fmt::format("{}-{}.sonde", fs::path(request.program).filename().string(), request.pid);
}

}  // namespace

Result<fs::path> outputPath(const OutputRequest& request) {
  std::error_code failure;
  fs::path path = ownName(request, false);
  if (!request.pattern.empty()) {
    SONDE_TRY_ASSIGN(const std::string text, expand(request));
    path = text;
    if (text.ends_with('/') || fs::is_directory(path, failure))
      path /= ownName(request, true);
  }
  fs::path absolute = fs::absolute(path, failure);
  if (failure)
    return Error{ErrorCode::Io, fmt::format("{}: {}", path.string(), failure.message())};
  return absolute.lexically_normal();
}

Error partTaken(const fs::path& part, const fs::path& session) {
  return {ErrorCode::Busy,
          fmt::format("{} is a recording that is running or was interrupted: give another name "
                      "with -o; or finish it with sonde recover{}{}, or give -f to drop it",
                      part.string(),
                      session.empty() ? "" : " ",
                      session.empty() ? "" : shellQuoted(session.string()))};
}

Result<void> claimOutput(const fs::path& output, bool force) {
  std::error_code failure;
  fs::create_directories(output.parent_path(), failure);
  if (failure)
    return Error{ErrorCode::Io,
                 fmt::format("cannot create the folder {}: {}: give another place with -o",
                             output.parent_path().string(),
                             failure.message())};
  const fs::path part = store::partOf(output);
  if (fs::is_directory(output, failure))
    return invalid(fmt::format("{} is a folder: give another name with -o", output.string()));
  SONDE_TRY(store::checkName(output, force));
  if (force)
    store::removeTrace(part);
  const int file = open(part.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST)
    return partTaken(part, {});
  if (file < 0)
    return Error{ErrorCode::Io,
                 fmt::format("cannot create {}: {}: give another place with -o",
                             part.string(),
                             std::generic_category().message(errno))};
  close(file);
  store::removeLogs(part);  // of a part that the user removed by hand
  return {};
}

}  // namespace sonde::recorder
