// Program files for tests: built ones, and ones with changed bytes.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace sonde::test {

inline std::string builtTarget(const std::string& name) {
  return std::string(TARGETS_DIR) + "/" + name;
}

inline std::string readAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A folder of this test, removed with it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = ::testing::TempDir() + "sonde-target-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

  std::string write(const std::string& name, const std::string& bytes, mode_t mode = 0755) const {
    const std::string file = path(name);
    std::ofstream(file, std::ios::binary) << bytes;
    chmod(file.c_str(), mode);
    return file;
  }

 private:
  std::string path_;
};

}  // namespace sonde::test
