// Where an exporter writes: a file that appears whole under its name or not at all, or standard
// output. Buffered; one thread.
#pragma once

#include "base/result.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace sonde::exports {

class OutputFile {
 public:
  // An empty path: standard output. InvalidArgument: the file exists and may not be replaced, or
  // cannot be made.
  static Result<OutputFile> create(const std::filesystem::path& path, bool replace);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // removes what was not finished

  // Io: the disk is full, or the like. A reader of standard output that has gone away is no error.
  Result<void> write(std::string_view bytes);
  // What was written so far takes its name, or goes. Once. InvalidArgument: something has got that
  // name meanwhile, and may not be replaced. Io: the disk is full, or the like.
  Result<void> finish();

 private:
  OutputFile(std::FILE* file, std::filesystem::path path, bool replace) noexcept;
  Error failure() const;
  Result<void> close();

  std::FILE* file_;  // nullptr: finished
  std::filesystem::path path_;
  bool replace_;
  std::filesystem::path part_;  // the name until it is finished; empty: standard output
};

}  // namespace sonde::exports
