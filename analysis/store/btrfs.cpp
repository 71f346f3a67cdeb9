#include "analysis/store/btrfs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/btrfs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace sonde::store {

namespace fs = std::filesystem;

namespace {

// The file system's id in the kernel's notation; empty: not btrfs.
std::string btrfsId(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return "";
  btrfs_ioctl_fs_info_args info{};
  const bool told = ioctl(descriptor, BTRFS_IOC_FS_INFO, &info) == 0;
  close(descriptor);
  std::string id;
  for (int i = 0; told && i < BTRFS_FSID_SIZE; ++i)
    id += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", info.fsid[i]);
  return id;
}

}  // namespace

bool isOnBtrfs(const fs::path& folder) {
  struct statfs status {};
  if (statfs(folder.c_str(), &status) != 0)
    return false;
  // An overlay reports the numbers of the file system below; btrfs reports no inodes.
  const auto magic = static_cast<std::uint32_t>(status.f_type);
  return magic == BTRFS_SUPER_MAGIC || (magic == OVERLAYFS_SUPER_MAGIC && status.f_files == 0);
}

bool hasBtrfsQuota(const fs::path& folder) {
  const std::string id = btrfsId(folder);
  if (id.empty())
    return false;
  std::error_code none;
  for (fs::directory_iterator group("/sys/fs/btrfs/" + id + "/qgroups", none), end; group != end;
       group.increment(none)) {
    std::uint64_t limits = 0;
    if (std::ifstream(group->path() / "limit_flags") >> limits && limits != 0)
      return true;
  }
  return false;
}

}  // namespace sonde::store
