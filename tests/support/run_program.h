// Runs a program to its end and keeps what it printed. For tests of `sonde` as a user meets it.
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

// `words[0]` is looked up in PATH unless it has a slash. Aborts the test run when it cannot be
// started.
Finished runProgram(const std::vector<std::string>& words);

// A folder of its own that goes when the value does.
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
