// A machine of files: the test writes /proc and /sys, and reads the source's values by name.
#pragma once

#include "recorder/system/source.h"
#include "tests/recorder/scratch_folder.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sonde::recorder::system {

class MachineOfFiles {
 public:
  Roots roots() const { return {folder_.path() / "proc", folder_.path() / "sys"}; }
  // `name` is a path below the machine's root: "proc/stat".
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    writeFile(path, text);
  }

  // The last value of every counter, after the source has been read once more.
  std::map<std::string, double> sample(Source& source) {
    readings_.setTime(++nowNs_);
    source.sample(readings_);
    const Batch batch = readings_.take();
    metrics_.insert(metrics_.end(), batch.metrics.begin(), batch.metrics.end());
    for (const Reading& reading : batch.readings)
      last_[nameOf(metrics_[reading.metric])] = reading.value;
    return last_;
  }
  const std::vector<Metric>& metrics() const { return metrics_; }

 private:
  static std::string nameOf(const Metric& metric) {
    std::string name = metric.name;
    if (metric.tid != 0)
      name += " of thread " + std::to_string(metric.tid);
    else if (metric.pid != 0)
      name += " of process " + std::to_string(metric.pid);
    return name;
  }

  ScratchFolder folder_;
  Readings readings_;
  std::int64_t nowNs_ = 0;
  std::vector<Metric> metrics_;
  std::map<std::string, double> last_;
};

}  // namespace sonde::recorder::system
