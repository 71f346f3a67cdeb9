// Where an exporter of several files writes: a folder that gets all of them in the end. One that is
// made appears whole or not at all. In one that is there, nothing changes before all are whole;
// then each takes its place by itself. Owned by one export; one thread.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::exports {

class OutputFolder {
 public:
  // `names`: of the files that it may get. InvalidArgument: it exists and is not empty, and nothing
  // may be replaced; it is no folder, or something that is one has the name of a file; what is left
  // of an export that was killed is in the way. Io: it cannot be made.
  static Result<OutputFolder> create(const std::filesystem::path& path,
                                     bool replace,
                                     std::vector<std::string> names);

  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();  // removes what was not finished

  // Where a file of this name, one of `names`, has to be written.
  std::filesystem::path file(std::string_view name) const { return part_ / name; }
  // The files take their place. Those of `names` that were there and not written this time, of
  // another export, are removed; all others stay. Once. Io: some have taken their place, perhaps.
  Result<void> finish();

  // The folder that files are in until then: in `path` where that exists, so that it may be a link
  // or a file system of its own, else beside it.
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
