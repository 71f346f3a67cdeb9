// Reads /proc of every process image while it lives: its command line, its rank, its environment.
// Uses a separate thread at the job's priority, because short-lived processes do not wait; the rest
// of the recorder may be slower. An image that ends before its /proc is read has no such facts.
#pragma once

#include "recorder/drain/folder_watch.h"
#include "recorder/drain/process_facts.h"
#include "recorder/options/redaction.h"

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sonde::recorder {

struct CapturedImage {
  ProcessFacts facts;
  std::string job;  // from jobIdentity
};

// `environment`: entries NAME=VALUE.
CapturedImage describeImage(const ImageId& image,
                            const std::vector<std::string>& argv,
                            const std::vector<std::string>& environment,
                            const Redactor& redactor);

// Unset if the process has gone, or has a pid namespace in which its pid means another process.
std::optional<CapturedImage> captureImage(const ImageId& image, const Redactor& redactor);

class ProcessCapture {
 public:
  // Starts to watch the spool folder. `redactor` must outlive this object.
  ProcessCapture(const std::filesystem::path& folder, const Redactor& redactor);
  ~ProcessCapture();
  ProcessCapture(const ProcessCapture&) = delete;
  ProcessCapture& operator=(const ProcessCapture&) = delete;

  // Returns the images read since the last call. Any thread.
  std::vector<CapturedImage> take();

 private:
  void work();

  const Redactor& redactor_;
  FolderWatch watch_;
  std::mutex mutex_;
  std::vector<CapturedImage> captured_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sonde::recorder
