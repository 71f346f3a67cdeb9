#include "cli/shell/command.h"

#include "base/whole_file.h"
#include "cli/shell/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace sonde::cli {
namespace {

// errno of the first failed write to stdout; 0: none failed.
int outputErrno = 0;

Error cannotWrite(const std::string& path, const Error& why) {
  return {ErrorCode::Io,
          fmt::format("cannot write '{}' ({}): give another place", path, why.message)};
}

}  // namespace

void complain(std::string_view verb, std::string_view message) {
  const std::string line = verb.empty() ? fmt::format("sonde: {}\n", message)
                                        : fmt::format("sonde {}: {}\n", verb, message);
  writeAroundBar(line);
}

int fail(std::string_view verb, const Error& error) {
  complain(verb, error.message);
  const bool askedAmiss = error.code == ErrorCode::InvalidArgument || error.code == ErrorCode::Busy;
  return askedAmiss ? kExitUsage : kExitUnreadable;
}

int failToAnswer(std::string_view verb, const Error& error) {
  const int status = fail(verb, error);
  return error.code == ErrorCode::NotFound ? kExitNoAnswer : status;
}

void printOut(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && outputErrno == 0)
    outputErrno = errno;
}

Result<void> flushOut() {
  if (std::fflush(stdout) != 0 && outputErrno == 0)
    outputErrno = errno;
  if (outputErrno == 0 || outputErrno == EPIPE)
    return {};
  return Error{ErrorCode::Io,
               fmt::format("cannot write to standard output: {}: send it elsewhere",
                           std::generic_category().message(outputErrno))};
}

std::string absolutePath(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path absolute = std::filesystem::absolute(path, failure);
  return failure ? path : absolute.lexically_normal().string();
}

Result<void> writeOut(const std::string& path, std::string_view text) {
  if (path.empty()) {
    printOut(text);
    return {};
  }
  if (const auto written = writeWhole(path, text); !written)
    return cannotWrite(path, written.error());
  return {};
}

Result<void> checkSummary(const std::string& path,
                          const std::string& output,
                          const std::vector<std::string>& inputs) {
  if (path.empty())
    return {};
  const auto isSummary = [&](const std::string& name) { return leadsTo(path, name); };
  if (isSummary(output) || std::any_of(inputs.begin(), inputs.end(), isSummary))
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("the summary '{}' is the output or an input: give another name", path)};
  if (const auto writable = checkWritable(path); !writable)
    return cannotWrite(path, writable.error());
  return {};
}

}  // namespace sonde::cli
