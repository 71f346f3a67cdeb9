// The right to drain a session: an open-file-description lock on `lock` in its folder, which the
// kernel releases when its holder dies. The kernel does not report the holder of such a lock, so
// the holder writes its pid and start time into the file. Owned by the drainer.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <utility>

namespace sonde::recorder {

class SpoolLock {
 public:
  // Busy: another process holds it; the message names it. NotFound: no such folder (any more).
  static Result<SpoolLock> take(const std::filesystem::path& folder);
  SpoolLock(SpoolLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  SpoolLock& operator=(SpoolLock&&) = delete;
  ~SpoolLock();

 private:
  explicit SpoolLock(int fd) noexcept : fd_(fd) {}

  int fd_;
};

}  // namespace sonde::recorder
