// A folder of its own for each test, removed with it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sonde::store {

class TemporaryFolder : public testing::Test {
 protected:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sonde-store-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path file(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

}  // namespace sonde::store
