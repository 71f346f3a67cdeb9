#include "analysis/store/trace_name.h"

#include "analysis/store/trace_file.h"
#include "analysis/store/trace_part.h"
#include "base/file_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace sonde::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLogs[] = {"-wal", "-shm", "-journal"};

Error nameTaken(const fs::path& to) {
  return {ErrorCode::InvalidArgument,
          fmt::format("'{}' exists: give -f to replace it, or another name", to.string())};
}

// Whether `sonde run` writes it or left it for `sonde recover`; other verbs' parts have no session.
bool isRecording(const fs::path& part) {
  std::error_code ignored;
  if (!fs::exists(part, ignored))
    return false;
  const auto trace = openTrace(part);
  if (!trace)  // finishing was interrupted or is in progress: then it has a log or a journal
    return fs::exists(part.string() + "-wal", ignored) ||
           fs::exists(part.string() + "-journal", ignored);
  return static_cast<bool>(trace->queryText("SELECT value FROM meta WHERE key = 'session'"));
}

// Refuses an output that would overwrite an input. Follows links.
Result<void> checkInputs(const fs::path& output, const std::vector<fs::path>& inputs) {
  for (const fs::path& input : inputs)
    for (const fs::path& name : {output, partOf(output)})
      for (const fs::path& file : filesOf(name))
        if (samePlace(input, file))
          return Error{ErrorCode::InvalidArgument,
                       fmt::format("'{}' is also an input: give -o another name", input.string())};
  return {};
}

Result<void> checkPart(const fs::path& part) {
  if (isBeingWritten(part))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is being written by another process: wait for it, or give -o "
                             "another name",
                             part.string())};
  if (isRecording(part))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is a recording that is running or was interrupted: give another "
                             "name, or finish it with sonde recover",
                             part.string())};
  return {};
}

}  // namespace

Result<void> checkName(const fs::path& to, bool replace) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(to, ignored)))
    return {};
  if (mustStay(to))
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("'{}' is not a file that can be replaced: give another name", to.string())};
  return replace ? Result<void>() : Result<void>(nameTaken(to));
}

fs::path partOf(const fs::path& output) {
  return output.string() + ".part";
}

std::vector<fs::path> filesOf(const fs::path& trace) {
  std::vector<fs::path> files = {trace};
  for (const char* suffix : kLogs)
    files.emplace_back(trace.string() + suffix);
  return files;
}

Result<void> checkOutput(const fs::path& output,
                         bool replace,
                         const std::vector<fs::path>& inputs,
                         std::string_view option) {
  if (output == "-")
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("'-' is standard output, but this needs a file: give another name with {}",
                    option)};
  SONDE_TRY(checkInputs(output, inputs));
  SONDE_TRY(checkName(output, replace));
  SONDE_TRY(checkPart(partOf(output)));
  std::error_code ignored;
  const fs::path folder = fs::absolute(output, ignored).parent_path();
  if (::access((folder / ".").c_str(), W_OK | X_OK) == 0)
    return {};
  return Error{ErrorCode::Io,
               fmt::format("cannot write '{}' ({}): give another place with {}",
                           output.string(),
                           std::generic_category().message(errno),
                           option)};
}

void removeLogs(const fs::path& path) {
  std::error_code ignored;
  for (const char* suffix : kLogs)
    fs::remove(path.string() + suffix, ignored);
}

void removeTrace(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
  removeLogs(path);
}

Result<void> takeName(const fs::path& from, const fs::path& to, bool replace) {
  SONDE_TRY(checkName(to, replace));
  // The kernel checks last, so that a file created in between is not lost either. Not all file
  // systems support it.
  const unsigned flags = replace ? 0 : RENAME_NOREPLACE;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0)
    return {};
  if (errno == EEXIST)
    return nameTaken(to);
  if ((errno == EINVAL || errno == ENOSYS) && ::rename(from.c_str(), to.c_str()) == 0)
    return {};
  return Error{ErrorCode::Io,
               fmt::format("cannot rename '{}' to '{}' ({})",
                           from.string(),
                           to.string(),
                           std::generic_category().message(errno))};
}

Result<void> renameTrace(const fs::path& from, const fs::path& to, bool replace) {
  SONDE_TRY(checkName(to, replace));
  removeLogs(to);  // before the rename, in case of interruption
  std::error_code ignored;
  fs::remove(from.string() + "-shm", ignored);  // a reader's, if the writer keeps none (btrfs)
  auto renamed = takeName(from, to, replace);
  if (!renamed && renamed.error().code == ErrorCode::Io)
    return Error{ErrorCode::Io, renamed.error().message + ": the trace remains in the former"};
  return renamed;
}

}  // namespace sonde::store
