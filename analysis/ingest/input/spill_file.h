// A file without a name for data that does not fit into memory. It disappears with its owner,
// however the program ends. One thread.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace sonde::ingest {

class SpillFile {
 public:
  // Nothing is created before the first append().
  explicit SpillFile(std::filesystem::path folder);
  SpillFile(SpillFile&& other) noexcept;
  SpillFile& operator=(SpillFile&&) = delete;
  ~SpillFile();

  Result<void> append(const void* bytes, std::size_t size);
  // Requires: [offset, offset + size) has been appended.
  Result<void> read(std::uint64_t offset, void* into, std::size_t size) const;
  std::uint64_t size() const noexcept { return size_; }

 private:
  Result<void> create();

  std::filesystem::path folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace sonde::ingest
