#include "recorder/spool/spool_place.h"

#include "analysis/store/btrfs.h"
#include "base/file_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMinTmpfsFree = 4ULL << 30;
constexpr std::uint64_t kHeadroomShare =
    4;  // a spool in memory takes at most 1/4 of the cgroup's headroom
constexpr std::uint32_t kXfsMagic = 0x58465342;

struct FileSystem {
  std::uint32_t magic;
  const char* name;
  bool usable;
};

constexpr FileSystem kFileSystems[] = {
    {EXT4_SUPER_MAGIC, "ext4", true},
    {kXfsMagic, "xfs", true},
    {OVERLAYFS_SUPER_MAGIC, "overlayfs", true},
    {TMPFS_MAGIC, "tmpfs", true},
    {BTRFS_SUPER_MAGIC, "btrfs", true},
    {NFS_SUPER_MAGIC, "nfs", false},
    {SMB_SUPER_MAGIC, "smb", false},
    {SMB2_SUPER_MAGIC, "smb", false},
    {0x0bd00bd0, "lustre", false},
    {0x00c36400, "ceph", false},
    {0x47504653, "gpfs", false},
    {0x19830326, "beegfs", false},
    {0x65735546, "fuse", false},
    {V9FS_MAGIC, "9p", false},
    {PROC_SUPER_MAGIC, "proc", false},
    {SYSFS_MAGIC, "sysfs", false},
};

std::optional<std::uint64_t> readNumber(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// Room left in one cgroup. `max` and `used`: names of its files in version 1 or 2.
void lowerTo(std::optional<std::uint64_t>& headroom,
             const fs::path& group,
             const char* max,
             const char* used) {
  constexpr std::uint64_t kUnlimited = 1ULL << 60;  // version 1 writes a number near 2⁶³
  const auto limit = readNumber(group / max);
  const auto taken = readNumber(group / used);
  if (!limit || !taken || *limit >= kUnlimited)
    return;
  const std::uint64_t left = *limit > *taken ? *limit - *taken : 0;
  headroom = std::min(headroom.value_or(left), left);
}

PlaceCheck refuse(PlaceCheck check, std::string why) {
  check.usable = false;
  check.why = std::move(why);
  return check;
}

PlaceCheck checkMemoryPlace(PlaceCheck check, bool named, std::uint64_t freeBytes) {
  const auto headroom = cgroupHeadroom();
  if (headroom)
    check.limitBytes = std::min(check.limitBytes, *headroom / kHeadroomShare);
  if (named)
    return check;
  if (freeBytes < kMinTmpfsFree)
    return refuse(check, fmt::format("it is in memory and has only {} MiB free", freeBytes >> 20));
  if (headroom && *headroom < kMinTmpfsFree)
    return refuse(
        check,
        fmt::format("it is in memory, and the cgroup has only {} MiB left", *headroom >> 20));
  return check;
}

// Why writing a page may fail although its space was allocated; empty: it will not.
std::string brokenPromise(const fs::path& place, const std::string& fileSystem) {
  if (!store::isOnBtrfs(place))
    return "";
  if (fileSystem == "overlayfs")
    return "overlayfs over btrfs";
  return store::hasBtrfsQuota(place) ? "btrfs with a quota" : "";
}

// Owned by this user and closed to others: in a folder open to all, another user may have created
// it first.
Result<void> makePrivateFolder(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return Error{ErrorCode::Io,
                 fmt::format("{}: {}", folder.string(), std::generic_category().message(errno))};
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0)
    return Error{ErrorCode::Io,
                 fmt::format("{}: {}", folder.string(), std::generic_category().message(errno))};
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    return Error{ErrorCode::Io,
                 fmt::format("{} is not a private folder of this user", folder.string())};
  return {};
}

// On btrfs a copy-on-write file can run out of space even after it was allocated. Files in the
// folder inherit this.
void switchOffCopyOnWrite(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  int flags = 0;
  if (ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0) {
    flags |= FS_NOCOW_FL;
    ioctl(descriptor, FS_IOC_SETFLAGS, &flags);
  }
  close(descriptor);
}

}  // namespace

std::optional<std::uint64_t> cgroupHeadroom() {
  std::optional<std::uint64_t> headroom;
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    const bool second = line.starts_with("0::");
    const std::size_t path = second ? 3 : line.find(":memory:") + 8;
    if (!second && line.find(":memory:") == std::string::npos)
      continue;
    const fs::path root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    fs::path group = fs::path(line.substr(path)).relative_path();
    for (;; group = group.parent_path()) {
      if (second)
        lowerTo(headroom, root / group, "memory.max", "memory.current");
      else
        lowerTo(headroom, root / group, "memory.limit_in_bytes", "memory.usage_in_bytes");
      if (group.empty())
        break;
    }
  }
  return headroom;
}

std::vector<fs::path> spoolPlaces(const SpoolRequest& request) {
  std::vector<fs::path> places;
  const auto add = [&](const std::string& place) {
    if (!place.empty() && std::find(places.begin(), places.end(), place) == places.end())
      places.emplace_back(place);
  };
  add(request.place);
  add(request.variable("SONDE_SPOOL").value_or(""));
  add(request.variable("TMPDIR").value_or(""));
  add("/tmp");
  add("/var/tmp");
  return places;
}

PlaceCheck checkPlace(const fs::path& place, bool named, std::uint64_t limitBytes) {
  PlaceCheck check{place, true, "", "", limitBytes, named};
  struct statfs status {};
  if (statfs(place.c_str(), &status) != 0)
    return refuse(check, std::generic_category().message(errno));
  const auto magic = static_cast<std::uint32_t>(status.f_type);
  const auto* known = std::find_if(std::begin(kFileSystems),
                                   std::end(kFileSystems),
                                   [&](const FileSystem& one) { return one.magic == magic; });
  check.fileSystem =
      known == std::end(kFileSystems) ? fmt::format("file system {:#x}", magic) : known->name;
  if (known == std::end(kFileSystems) || !known->usable)
    return refuse(
        check, fmt::format("{} cannot guarantee allocated space for a mapping", check.fileSystem));
  if (const std::string broken = brokenPromise(place, check.fileSystem); !broken.empty())
    return refuse(check, fmt::format("{} cannot guarantee allocated space for a mapping", broken));
  if (access(place.c_str(), W_OK | X_OK) != 0)
    return refuse(check, std::generic_category().message(errno));
  if (magic == TMPFS_MAGIC)
    return checkMemoryPlace(
        check,
        named,
        static_cast<std::uint64_t>(status.f_bavail) * static_cast<std::uint64_t>(status.f_bsize));
  return check;
}

std::vector<PlaceCheck> checkPlaces(const SpoolRequest& request) {
  const std::string byVariable = request.variable("SONDE_SPOOL").value_or("");
  std::vector<PlaceCheck> checks;
  for (const fs::path& place : spoolPlaces(request)) {
    const bool named = place == request.place || place == byVariable;
    checks.push_back(checkPlace(place, named, request.limitBytes));
  }
  return checks;
}

std::vector<PlaceCheck> makePlaces(const SpoolRequest& request) {
  std::vector<PlaceCheck> checks = checkPlaces(request);
  for (PlaceCheck& check : checks) {
    if (check.named && !isThere(check.place)) {
      std::error_code failure;
      fs::create_directories(check.place, failure);
      check = failure ? refuse(std::move(check), failure.message())
                      : checkPlace(check.place, true, request.limitBytes);
    }
    if (check.usable)
      break;
  }
  return checks;
}

Result<fs::path> makeSessionFolder(const fs::path& place) {
  std::error_code failure;
  const fs::path absolute = fs::absolute(place, failure);
  const fs::path mine = absolute / fmt::format("sonde-{}", geteuid());
  SONDE_TRY(makePrivateFolder(mine));
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random)
    return Error{ErrorCode::Io,
                 fmt::format("no random number: {}", std::generic_category().message(errno))};
  fs::path folder = mine / fmt::format("{}-{:08x}", getpid(), random);
  if (mkdir(folder.c_str(), 0700) != 0)
    return Error{ErrorCode::Io,
                 fmt::format("{}: {}", folder.string(), std::generic_category().message(errno))};
  if (store::isOnBtrfs(folder))
    switchOffCopyOnWrite(folder);
  return folder;
}

// A folder that cannot be removed is empty and in a folder for temporary files.
void removeSessionFolder(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  fs::remove(folder.parent_path(), ignored);  // fails while there are other sessions
}

}  // namespace sonde::recorder
