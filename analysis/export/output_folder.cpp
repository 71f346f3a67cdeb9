#include "analysis/export/output_folder.h"

#include "analysis/store/scratch.h"
#include "analysis/store/trace_name.h"

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <utility>

namespace sonde::exports {
namespace {

namespace fs = std::filesystem;

Error failure(std::string_view what, const fs::path& path, const std::error_code& problem) {
  return {ErrorCode::Io,
          fmt::format("cannot {} '{}' ({}): give another place with -o",
                      what,
                      path.string(),
                      problem.message())};
}

Error refusal(const fs::path& path, std::string_view why) {
  return {ErrorCode::InvalidArgument,
          fmt::format("'{}' {}, or give another place with -o", path.string(), why)};
}

bool isThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

Result<void> checkFolder(const fs::path& path, bool replace) {
  std::error_code problem;
  if (!isThere(path))
    return {};
  if (!fs::is_directory(path, problem))
    return refusal(path,
                   fs::exists(path, problem) ? "is not a folder: remove it"
                                             : "is a dangling link: create the folder");
  if (!replace && !fs::is_empty(path, problem))
    return refusal(path, "exists: give -f to replace its contents");
  return {};
}

Result<void> checkFiles(const fs::path& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::error_code ignored;
    if (fs::is_directory(fs::symlink_status(folder / name, ignored)))
      return refusal(folder / name, "is a folder: remove it");
  }
  return {};
}

// `path`: the folder that the user named.
Result<void> makePart(const fs::path& part, const fs::path& path) {
  std::error_code problem;
  if (isThere(part))
    return refusal(part, "is left over from an interrupted export: remove it");
  fs::create_directories(part, problem);
  if (problem)
    return failure("make the folder", path, problem);
  return {};
}

}  // namespace

fs::path OutputFolder::partOf(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored))
    return path / ".part";
  return store::partOf(path.has_filename() ? path : path.parent_path());
}

OutputFolder::OutputFolder(fs::path path, std::vector<std::string> names)
    : path_(std::move(path)), names_(std::move(names)) {
  std::error_code ignored;
  exists_ = fs::exists(path_, ignored);
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : path_(std::move(other.path_)),
      names_(std::move(other.names_)),
      exists_(other.exists_),
      part_(std::exchange(other.part_, fs::path())) {}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!part_.empty())
    fs::remove_all(part_, ignored);
}

Result<OutputFolder> OutputFolder::create(const fs::path& path,
                                          bool replace,
                                          std::vector<std::string> names) {
  SONDE_TRY(checkFolder(path, replace));
  SONDE_TRY(checkFiles(path, names));
  OutputFolder output(path, std::move(names));
  const fs::path part = partOf(path);
  SONDE_TRY(makePart(part, path));
  output.part_ = part;
  return output;
}

// Moves the new files first: a failure keeps the old ones.
Result<void> OutputFolder::moveFiles() const {
  std::error_code problem;
  std::vector<fs::path> old;
  for (const std::string& name : names_) {
    const fs::path to = path_ / name;
    if (!isThere(part_ / name)) {
      old.push_back(to);
      continue;
    }
    fs::rename(part_ / name, to, problem);
    if (problem)
      return failure("write", to, problem);
  }
  for (const fs::path& file : old) {
    fs::remove(file, problem);
    if (problem)
      return failure("remove", file, problem);
  }
  return {};
}

Result<void> OutputFolder::finish() {
  std::error_code problem;
  if (exists_) {
    const store::EndingHeld whole;
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
