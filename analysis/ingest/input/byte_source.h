// Reads the bytes of a file in order; inflates gzip files.
//
// Owned by one importer, on one thread. Memory does not depend on the file's size.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace sonde::ingest {

class ByteSource {
 public:
  // NotFound: no such file. Corrupt: a folder, a pipe or a device; only files with an end are read.
  // Io: the system refused. Errors are one line with the file and the remedy.
  static Result<ByteSource> open(const std::filesystem::path& path);

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  // Fills `into` and returns the number of bytes; it is smaller than `into` only at the end.
  // Corrupt, with the place in the file: the gzip data is damaged or cut short. All data before the
  // damage was returned first.
  Result<std::size_t> read(std::span<char> into);

  const std::filesystem::path& path() const noexcept;
  bool isCompressed() const noexcept;
  // For a progress bar: the size of the file itself, and how many of its bytes were read.
  std::uint64_t fileBytes() const noexcept;
  std::uint64_t fileBytesRead() const noexcept;

 private:
  struct State;
  explicit ByteSource(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace sonde::ingest
