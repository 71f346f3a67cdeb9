// Reads /proc of every process image of a recording while it lives: its command line, its rank, its
// environment. A thread of its own, at the job's priority, because a short-lived process does not
// wait; the rest of the recorder may be slower. An image that ends sooner than its /proc can be
// read stays without.
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
  std::string job;  // as jobIdentity says
};

// `environment`: entries NAME=VALUE.
CapturedImage describeImage(const ImageId& image,
                            const std::vector<std::string>& argv,
                            const std::vector<std::string>& environment,
                            const Redactor& redactor);

// Nothing when the process has gone, or has a pid namespace in which its pid means another.
std::optional<CapturedImage> captureImage(const ImageId& image, const Redactor& redactor);

class ProcessCapture {
 public:
  // Begins to watch the spool folder. `redactor` must outlive this object.
  ProcessCapture(const std::filesystem::path& folder, const Redactor& redactor);
  ~ProcessCapture();
  ProcessCapture(const ProcessCapture&) = delete;
  ProcessCapture& operator=(const ProcessCapture&) = delete;

  // What has been read since the last call. Any thread.
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
