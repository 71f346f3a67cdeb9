// Wakes the recording's worker: at once when a process image has made its spool file, so that its
// /proc can be read while it lives, else after a while, or to end. wait() is the worker's; stop()
// may be called from any thread.
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

  // At most `timeoutMs`. The images whose spool files have appeared since the last call.
  std::vector<ImageId> wait(int timeoutMs);

  void stop();
  bool stopped() const { return stopped_.load(); }

 private:
  int notify_ = -1;  // inotify; without it (its limit is reached) the drains find the images
  int wake_ = -1;    // eventfd
  std::atomic<bool> stopped_{false};
};

// What the name of a spool file, `<boot id 8>-<pid ns>-<pid>-<start time>-<exec count>.spool`, says
// of its image.
std::optional<ImageId> imageOfFileName(const std::string& name);

}  // namespace sonde::recorder
