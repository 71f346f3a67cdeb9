#include "recorder/spool/spool_lock.h"

#include "recorder/launcher/process_stat.h"
#include "recorder/spool/manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace sonde::recorder {

namespace {

// The lock does not depend on this text, so a full disk does not prevent locking.
void writeHolder(int fd) {
  const std::string text = fmt::format("{} {}\n", ::getpid(), processStartTime(::getpid()));
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return;
}

// A process that has just taken the lock may not have written yet; the text is then a dead
// process's.
std::string readHolder(int fd) {
  char text[64] = {};
  int pid = 0;
  unsigned long long startTime = 0;
  if (::pread(fd, text, sizeof text - 1, 0) <= 0 ||
      std::sscanf(text, "%d %llu", &pid, &startTime) != 2 ||
      !launcher::processAlive(pid, startTime))
    return "another process";
  return fmt::format("process {}", pid);
}

}  // namespace

Result<SpoolLock> SpoolLock::take(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return Error{errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                 fmt::format("{}: {}", path.string(), std::generic_category().message(errno))};
  SpoolLock lock(fd);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(fd, F_OFD_SETLK, &whole) == 0) {
    // Its last holder may have removed it with the session after this process opened it.
    struct stat status {};
    if (::fstat(fd, &status) == 0 && status.st_nlink > 0) {
      writeHolder(fd);
      return lock;
    }
    return Error{ErrorCode::NotFound,
                 fmt::format("another process just finished {}", folder.string())};
  }
  if (errno == EAGAIN || errno == EACCES)
    return Error{ErrorCode::Busy,
                 fmt::format("{1} records or recovers {0}, and will finish the trace",
                             folder.string(),
                             readHolder(fd))};
  return Error{ErrorCode::Io,
               fmt::format("{}: {}", path.string(), std::generic_category().message(errno))};
}

SpoolLock::~SpoolLock() {
  if (fd_ >= 0)
    ::close(fd_);
}

}  // namespace sonde::recorder
