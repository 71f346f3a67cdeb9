#include "session/spool_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sonde::session {

Result<SpoolLock> SpoolLock::take(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return Error{errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                 fmt::format("{}: {}", path.string(), std::strerror(errno))};
  SpoolLock lock(fd);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(fd, F_OFD_SETLK, &whole) == 0) {
    // Its last holder may have removed it with the session, after it was opened here.
    struct stat status {};
    if (::fstat(fd, &status) == 0 && status.st_nlink > 0)
      return lock;
    return Error{ErrorCode::NotFound,
                 fmt::format("{} was just finished by another process", folder.string())};
  }
  if (errno == EAGAIN || errno == EACCES)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("{} is being recorded or recovered by another process", folder.string())};
  return Error{ErrorCode::Io, fmt::format("{}: {}", path.string(), std::strerror(errno))};
}

SpoolLock::~SpoolLock() {
  if (fd_ >= 0)
    ::close(fd_);
}

}  // namespace sonde::session
