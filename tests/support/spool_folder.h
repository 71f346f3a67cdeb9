// A session folder as the recorder makes it, without a recorder: for tests of what writes spools
// and of what reads them.
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

  // Changes what the session page allows, for whoever has it mapped.
  void setLimit(std::uint64_t bytes) const;

  // What processes that begin from now on record in full.
  void setCapture(const wire::CaptureRule& rule) const;

  // How their probes take turns.
  void setCalibration(const wire::CalibrationRule& rule) const;

  // The spool files in it, by name.
  std::vector<std::filesystem::path> files() const;

 private:
  std::filesystem::path path_;
};

}  // namespace sonde::test
