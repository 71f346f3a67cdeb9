// A session folder as the recorder makes it, without a recorder: for tests of spool writers and
// readers.
#pragma once

#include "collector/wire/spool_format.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace sonde::test {

class SpoolFolder {
 public:
  // A new folder under `place`, whose session page allows `limitBytes` over all processes.
  explicit SpoolFolder(std::uint64_t limitBytes,
                       const std::filesystem::path& place = std::filesystem::temp_directory_path());
  ~SpoolFolder();
  SpoolFolder(const SpoolFolder&) = delete;
  SpoolFolder& operator=(const SpoolFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

  // Changes the limit in the session page, for all processes that have mapped it.
  void setLimit(std::uint64_t bytes) const;

  // Sets which parts later processes record in full.
  void setCapture(const wire::CaptureRule& rule) const;

  // Sets how their probes alternate.
  void setCalibration(const wire::CalibrationRule& rule) const;

  // The spool files in it, by name.
  std::vector<std::filesystem::path> files() const;

 private:
  std::filesystem::path path_;
};

}  // namespace sonde::test
