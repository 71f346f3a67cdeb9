#include "session/output_reserve.h"

#include <fcntl.h>
#include <unistd.h>

namespace sonde::session {

OutputReserve::OutputReserve(const std::filesystem::path& part) {
  constexpr off_t kBytes = 1 << 20;
  const std::filesystem::path folder = part.has_parent_path() ? part.parent_path() : ".";
  fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ >= 0 && ::fallocate(fd_, 0, 0, kBytes) != 0)
    release();
}

void OutputReserve::release() noexcept {
  if (fd_ >= 0)
    ::close(fd_);
  fd_ = -1;
}

}  // namespace sonde::session
