#include "base/file_place.h"

#include <string>
#include <system_error>

namespace sonde {
namespace {

namespace fs = std::filesystem;

fs::path folderOf(const fs::path& path) {
  std::error_code failure;
  return fs::weakly_canonical(fs::absolute(path, failure).parent_path(), failure);
}

}  // namespace

bool samePlace(const fs::path& one, const fs::path& other) {
  std::error_code failure;
  if (one.filename() == other.filename() &&
      (folderOf(one) == folderOf(other) || fs::equivalent(folderOf(one), folderOf(other), failure)))
    return true;
  return fs::equivalent(one, other, failure);
}

bool mustStay(const fs::path& path) {
  std::error_code failure;
  const fs::file_status target = fs::status(path, failure);
  if (fs::exists(target) && !fs::is_regular_file(target))
    return true;
  if (!fs::is_symlink(fs::symlink_status(path, failure)))
    return false;
  const std::string folder = folderOf(path);
  return folder == "/dev" || folder.starts_with("/proc/");
}

bool isThere(const fs::path& path) noexcept {
  std::error_code failure;
  return fs::exists(path, failure);
}

std::uint64_t fileBytes(const fs::path& path) noexcept {
  std::error_code failure;
  const auto bytes = fs::file_size(path, failure);
  return failure ? 0 : bytes;
}

}  // namespace sonde
