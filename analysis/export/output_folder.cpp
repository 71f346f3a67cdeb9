#include "analysis/export/output_folder.h"

#include "analysis/store/trace_name.h"

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <utility>

namespace sonde::exports {
namespace {

namespace fs = std::filesystem;

Error failure(std::string_view what, const fs::path& path, const std::error_code& problem) {
  return {ErrorCode::Io, fmt::format("cannot {} '{}': {}", what, path.string(), problem.message())};
}

Error refusal(const fs::path& path, std::string_view why) {
  return {ErrorCode::InvalidArgument, fmt::format("'{}' {}", path.string(), why)};
}

Result<void> checkFolder(const fs::path& path, bool replace) {
  std::error_code problem;
  if (!fs::exists(path, problem))
    return {};
  if (!fs::is_directory(path, problem))
    return refusal(path, "is no folder: give another name");
  if (!replace && !fs::is_empty(path, problem))
    return refusal(path, "exists: give -f to replace what is in it, or another name");
  return {};
}

Result<void> makePart(const fs::path& part) {
  std::error_code problem;
  if (fs::exists(part, problem))
    return refusal(part, "is left of an export that was killed: remove it, or give another name");
  fs::create_directories(part, problem);
  if (problem)
    return failure("make the folder", part, problem);
  return {};
}

}  // namespace

fs::path OutputFolder::partOf(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored))
    return path / ".part";
  return store::partOf(path.has_filename() ? path : path.parent_path());
}

OutputFolder::OutputFolder(fs::path path) : path_(std::move(path)) {
  std::error_code ignored;
  exists_ = fs::exists(path_, ignored);
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : path_(std::move(other.path_)),
      exists_(other.exists_),
      part_(std::exchange(other.part_, fs::path())) {}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!part_.empty())
    fs::remove_all(part_, ignored);
}

Result<OutputFolder> OutputFolder::create(const fs::path& path, bool replace) {
  SONDE_TRY(checkFolder(path, replace));
  OutputFolder output(path);
  const fs::path part = partOf(path);
  SONDE_TRY(makePart(part));
  output.part_ = part;
  return output;
}

Result<void> OutputFolder::moveFiles() const {
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(part_, problem)) {
    const fs::path to = path_ / entry.path().filename();
    fs::rename(entry.path(), to, problem);
    if (problem)
      return failure("write", to, problem);
  }
  if (problem)
    return failure("read the folder", part_, problem);
  return {};
}

Result<void> OutputFolder::finish() {
  std::error_code problem;
  if (exists_) {
    SONDE_TRY(moveFiles());
    fs::remove(part_, problem);
  } else {
    fs::rename(part_, path_, problem);
  }
  if (problem)
    return failure("write", path_, problem);
  part_.clear();
  return {};
}

}  // namespace sonde::exports
