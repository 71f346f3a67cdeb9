#include "recorder/launcher/descriptor_limit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sonde::launcher {

void raiseDescriptorLimit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool descriptorsAreScarce() noexcept {
  constexpr rlim_t kSpare = 16;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return false;
  const int lowestFree = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (lowestFree < 0)
    return isPassing(errno);
  close(lowestFree);
  return static_cast<rlim_t>(lowestFree) + std::min(kSpare, limit.rlim_cur / 4) >= limit.rlim_cur;
}

bool isPassing(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOMEM;
}

}  // namespace sonde::launcher
