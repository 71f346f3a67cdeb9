// Runs a program to its end and returns its output. For tests of `sonde` from a user's view.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::test {

struct Finished {
  int status = -1;  // exit status, or 128 + the signal that ended it
  std::string out;
  std::string err;
};

// `words[0]` is looked up in PATH unless it has a slash. Aborts the test run if it cannot be
// started.
Finished runProgram(const std::vector<std::string>& words);

// A temporary folder that is removed with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string readText(const std::string& path);
void writeText(const std::string& path, const std::string& text);

}  // namespace sonde::test
