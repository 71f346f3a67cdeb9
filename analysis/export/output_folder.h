// Where an exporter of several files writes: a folder that gets all of them in the end, or none.
// Owned by one export; one thread.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>
#include <string_view>

namespace sonde::exports {

class OutputFolder {
 public:
  // InvalidArgument: it exists and is not empty, and nothing may be replaced; it is no folder; what
  // is left of an export that was killed is in the way. Io: it cannot be made.
  static Result<OutputFolder> create(const std::filesystem::path& path, bool replace);

  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();  // removes what was not finished

  // Where a file of this name has to be written.
  std::filesystem::path file(std::string_view name) const { return part_ / name; }
  // The files take their place; those of other names that were there stay. Once.
  Result<void> finish();

  // The folder that files are in until then: in `path` where that exists, so that it may be a link
  // or a file system of its own, else beside it.
  static std::filesystem::path partOf(const std::filesystem::path& path);

 private:
  explicit OutputFolder(std::filesystem::path path);
  Result<void> moveFiles() const;

  std::filesystem::path path_;
  bool exists_;
  std::filesystem::path part_;  // empty: finished
};

}  // namespace sonde::exports
