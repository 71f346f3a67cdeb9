#include "analysis/store/trace_part.h"

#include "analysis/store/trace_name.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>

namespace sonde::store {
namespace {

namespace fs = std::filesystem;

// A byte beyond any file's end, so that this lock does not collide with SQLite's. The lock ends
// with the descriptor, also if the process is killed.
struct flock writersByte() {
  struct flock byte {};
  byte.l_type = F_WRLCK;
  byte.l_whence = SEEK_SET;
  byte.l_start = std::numeric_limits<off_t>::max() - 1;
  byte.l_len = 1;
  return byte;
}

Error inTheWay(const fs::path& part, const char* advice) {
  return {ErrorCode::InvalidArgument, fmt::format("'{}' is in the way: {}", part.string(), advice)};
}

Error writtenElsewhere(const fs::path& part) {
  return inTheWay(part, "another process writes it: wait for it, or give another name");
}

// False: another process holds it. Not all file systems have locks.
bool lock(int fd) {
  struct flock byte = writersByte();
  return ::fcntl(fd, F_OFD_SETLK, &byte) == 0 || (errno != EAGAIN && errno != EACCES);
}

// Whether the descriptor's file still has this name. A concurrent process with -f may have removed
// it before it was locked, and created its own.
bool isAt(int fd, const fs::path& part) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::lstat(part.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// Logs first: once the name is free, others create theirs.
void removeHeld(const fs::path& part) {
  removeLogs(part);
  std::error_code ignored;
  fs::remove(part, ignored);
}

// Removes the leftover of a killed process. If the file vanished before it was locked, or did not
// exist, a file there now may be another process's and stays.
Result<void> removeOld(const fs::path& part) {
  const int fd = ::open(part.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return errno == ENOENT ? Result<void>() : Result<void>(inTheWay(part, "remove it"));
  const bool free = lock(fd);
  if (free && isAt(fd, part))
    removeHeld(part);
  const bool stays = free && isAt(fd, part);
  ::close(fd);
  if (stays)
    return inTheWay(part, "remove it");
  return free ? Result<void>() : Result<void>(writtenElsewhere(part));
}

// Why it could not be created. Only a link, or a file created after removeOld() and about to be
// locked, can be there.
Error whatIsThere(const fs::path& part, bool replace) {
  std::error_code ignored;
  if (isBeingWritten(part) || (replace && !fs::is_symlink(part, ignored)))
    return writtenElsewhere(part);
  return inTheWay(part, replace ? "remove it" : "remove it, or give -f");
}

}  // namespace

bool isBeingWritten(const fs::path& part) {
  const int fd = ::open(part.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return false;
  struct flock byte = writersByte();
  const bool held = ::fcntl(fd, F_OFD_GETLK, &byte) == 0 && byte.l_type != F_UNLCK;
  ::close(fd);
  return held;
}

TracePart::TracePart(fs::path output, bool replace, int lock)
    : output_(std::move(output)), part_(partOf(output_)), replace_(replace), lock_(lock) {}

TracePart::TracePart(TracePart&& other) noexcept
    : output_(std::move(other.output_)),
      part_(std::move(other.part_)),
      replace_(other.replace_),
      lock_(std::exchange(other.lock_, -1)),
      ours_(std::exchange(other.ours_, false)) {}

TracePart::~TracePart() {
  if (ours_ && isAt(lock_, part_))
    removeHeld(part_);
  if (lock_ >= 0)
    ::close(lock_);
}

Result<TracePart> TracePart::claim(const fs::path& output,
                                   bool replace,
                                   const std::vector<fs::path>& inputs) {
  SONDE_TRY(checkOutput(output, replace, inputs));
  const fs::path part = partOf(output);
  if (replace)
    SONDE_TRY(removeOld(part));
  const int fd = ::open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0 && errno == EEXIST)
    return whatIsThere(part, replace);
  if (fd < 0)
    return Error{ErrorCode::Io,
                 fmt::format("cannot create '{}' ({}): give another place with -o",
                             part.string(),
                             std::generic_category().message(errno))};
  if (!lock(fd) || !isAt(fd, part)) {
    ::close(fd);
    return writtenElsewhere(part);
  }
  removeLogs(part);  // of one that was removed by hand
  return TracePart(output, replace, fd);
}

Result<void> TracePart::publish() && {
  ours_ = false;
  return renameTrace(part_, output_, replace_);
}

}  // namespace sonde::store
