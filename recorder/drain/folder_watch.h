// Wakes the recording's worker: immediately when a process image has created its spool file, so
// that its /proc can be read in time; else after a timeout, or to stop. The worker calls wait();
// any thread may call stop().
#pragma once

#include "recorder/spool/image_id.h"

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

class FolderWatch {
 public:
  explicit FolderWatch(const std::filesystem::path& folder);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Waits at most `timeoutMs`. Returns the images whose spool files have appeared since the last
  // call.
  std::vector<ImageId> wait(int timeoutMs);

  void stop();
  bool stopped() const { return stopped_.load(); }

 private:
  int notify_ = -1;  // inotify; without it (its limit is reached) only the drains find the images
  int wake_ = -1;    // eventfd
  std::atomic<bool> stopped_{false};
};

// The image of a spool file, from its name `<boot id 8>-<pid ns>-<pid>-<start time>-<exec
// count>.spool`.
std::optional<ImageId> imageOfFileName(const std::string& name);

}  // namespace sonde::recorder
