// The right to drain a session: an open-file-description lock on `lock` in its folder, which the
// kernel takes back when its holder dies. The kernel tells nobody who holds such a lock, so the
// holder writes its pid and start time into the file. Owned by the drainer.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <utility>

namespace sonde::recorder {

class SpoolLock {
 public:
  // Busy when another process holds it, which the message names; NotFound when there is no such
  // folder, or none any more.
  static Result<SpoolLock> take(const std::filesystem::path& folder);
  SpoolLock(SpoolLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  SpoolLock& operator=(SpoolLock&&) = delete;
  ~SpoolLock();

 private:
  explicit SpoolLock(int fd) noexcept : fd_(fd) {}

  int fd_;
};

}  // namespace sonde::recorder
