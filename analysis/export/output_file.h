// The output of an exporter: a file that appears complete under its name or not at all, or standard
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
  // An empty path means standard output. InvalidArgument: the file exists and may not be replaced,
  // or cannot be created.
  static Result<OutputFile> create(const std::filesystem::path& path, bool replace);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // removes what was not finished

  // Io: for example the disk is full. A closed reader of standard output is not an error.
  Result<void> write(std::string_view bytes);
  // Gives the file its name, or removes it on failure. Call once. InvalidArgument: something took
  // that name meanwhile and may not be replaced. Io: for example the disk is full.
  Result<void> finish();

 private:
  OutputFile(std::FILE* file, std::filesystem::path path, bool replace) noexcept;
  Error failure() const;
  Result<void> close();

  std::FILE* file_;  // nullptr: finished
  std::filesystem::path path_;
  bool replace_;
  std::filesystem::path part_;  // the name until finish(); empty: standard output
};

}  // namespace sonde::exports
