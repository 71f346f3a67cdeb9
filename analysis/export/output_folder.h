// The output folder of an exporter with several files. A new folder appears complete or not at all.
// In an existing folder nothing changes until all files are complete; then each is moved
// separately. Owned by one export; one thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::exports {

class OutputFolder {
 public:
  // `names`: the files that it may get. InvalidArgument: the folder is not empty and may not be
  // replaced; it is not a folder; a folder has the name of a file; or a killed export left files in
  // the way. Io: it cannot be created.
  static Result<OutputFolder> create(const std::filesystem::path& path,
                                     bool replace,
                                     std::vector<std::string> names);

  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();  // removes what was not finished

  // The path at which to write the file `name`, one of `names`.
  std::filesystem::path file(std::string_view name) const { return part_ / name; }
  // Moves the files to their places. Removes those of `names` that an earlier export left and this
  // one did not write; keeps all others. Call once. Io: some files may have been moved.
  Result<void> finish();

  // The folder that holds the files until finish(): inside `path` if that exists, since it may be a
  // link or another file system; else beside it.
  static std::filesystem::path partOf(const std::filesystem::path& path);

 private:
  OutputFolder(std::filesystem::path path, std::vector<std::string> names);
  Result<void> moveFiles() const;

  std::filesystem::path path_;
  std::vector<std::string> names_;
  bool exists_;
  std::filesystem::path part_;  // empty: finished
};

}  // namespace sonde::exports
