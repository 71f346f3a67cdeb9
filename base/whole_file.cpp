#include "base/whole_file.h"

#include "base/file_place.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kAnyMode = 0666;  // minus the umask
constexpr mode_t kPermissions = 07777;

Error failed(int number) {
  return {ErrorCode::Io, std::generic_category().message(number)};
}

// The target of a link, whether it exists or not. Links in /proc to open files cannot be followed
// by their text.
fs::path targetOf(fs::path path) {
  constexpr int kMostLinks = 40;  // the kernel's limit; a circle of links stays a link
  std::error_code failure;
  for (int count = 0; count < kMostLinks && fs::is_symlink(path, failure); ++count) {
    if (fs::weakly_canonical(path.parent_path(), failure).string().starts_with("/proc/"))
      break;
    const fs::path next = fs::read_symlink(path, failure);
    if (failure)
      break;
    path = path.parent_path() / next;
  }
  return path;
}

// This program's descriptor for the file, if it has one, so that new text is appended to earlier
// output.
std::optional<int> ownDescriptor(const fs::path& file) {
  struct stat wanted {};
  if (::stat(file.c_str(), &wanted) != 0)
    return std::nullopt;
  std::error_code failure;
  fs::directory_iterator entry("/proc/self/fd", failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    const int descriptor = std::atoi(entry->path().filename().c_str());
    struct stat found {};
    const int flags = ::fcntl(descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && ::fstat(descriptor, &found) == 0 &&
        found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino)
      return descriptor;
  }
  return std::nullopt;
}

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }

  int number() const { return number_; }
  // Some file systems report a full disk only now.
  Result<void> close() {
    return ::close(std::exchange(number_, -1)) == 0 ? Result<void>() : Result<void>(failed(errno));
  }

 private:
  int number_;
};

Result<void> writeAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0) {
      return failed(EIO);
    } else if (errno == EAGAIN) {  // another process's pipe
      pollfd room = {descriptor, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return failed(errno);
    }
  }
  return {};
}

Result<void> writeInPlace(const fs::path& target, int flags, std::string_view text) {
  Descriptor file(::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | flags));
  if (file.number() < 0)
    return failed(errno);
  SONDE_TRY(writeAll(file.number(), text));
  return file.close();
}

// A file with a unique name beside the one it will replace.
struct Temporary {
  fs::path path;
  Descriptor file;
};

Result<Temporary> makeTemporary(const fs::path& target) {
  constexpr int kMost = 1000;
  for (int number = 0;; ++number) {
    fs::path path = target.parent_path() / (".sonde-" + std::to_string(::getpid()) + "-" +
                                            std::to_string(number) + ".tmp");
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kAnyMode));
    if (file.number() >= 0)
      return Temporary{std::move(path), std::move(file)};
    if (errno != EEXIST || number == kMost)
      return failed(errno);
  }
}

Result<void> fill(Temporary& temporary, const fs::path& target, std::string_view text) {
  struct stat before {};
  if (::stat(target.c_str(), &before) == 0)
    // No effect on file systems without permissions.
    static_cast<void>(::fchmod(temporary.file.number(), before.st_mode & kPermissions));
  SONDE_TRY(writeAll(temporary.file.number(), text));
  return temporary.file.close();
}

// An existing file without write permission must not be replaced either.
Result<void> checkPermission(const fs::path& target) {
  if (::access(target.c_str(), W_OK) == 0 || errno == ENOENT)
    return {};
  return failed(errno);
}

// The folder is not writable, or the file cannot be renamed: tries to overwrite the file itself.
Result<void> overwrite(const fs::path& target, std::string_view text, Error why) {
  if (::access(target.c_str(), W_OK) != 0)
    return why;
  return writeInPlace(target, O_TRUNC, text);
}

}  // namespace

Result<void> writeWhole(const fs::path& file, std::string_view text) {
  if (const auto descriptor = ownDescriptor(file))
    return writeAll(*descriptor, text);
  const fs::path target = targetOf(file);
  SONDE_TRY(checkPermission(target));
  if (mustStay(target))
    return writeInPlace(target, O_APPEND, text);
  auto temporary = makeTemporary(target);
  if (!temporary)
    return overwrite(target, text, std::move(temporary).error());
  if (auto filled = fill(*temporary, target, text); !filled) {
    ::unlink(temporary->path.c_str());
    return filled;
  }
  if (::rename(temporary->path.c_str(), target.c_str()) == 0)
    return {};
  Error why = failed(errno);
  ::unlink(temporary->path.c_str());
  return overwrite(target, text, std::move(why));
}

Result<void> checkWritable(const fs::path& file) {
  if (ownDescriptor(file))
    return {};
  const fs::path target = targetOf(file);
  std::error_code failure;
  if (fs::is_directory(target, failure))
    return failed(EISDIR);
  SONDE_TRY(checkPermission(target));
  if (mustStay(target))
    return {};
  auto temporary = makeTemporary(target);
  if (temporary) {
    ::unlink(temporary->path.c_str());
    return {};
  }
  return ::access(target.c_str(), W_OK) == 0 ? Result<void>() : Result<void>(temporary.error());
}

bool leadsTo(const fs::path& file, const fs::path& name) {
  return samePlace(file, name) || samePlace(targetOf(file), targetOf(name));
}

}  // namespace sonde
