// The bytes of a file, in order: as they are, or inflated when they are gzip.
//
// Owned by one importer, on one thread. Memory stays the same however large the file is.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace sonde::ingest {

class ByteSource {
 public:
  // NotFound: no such file. Corrupt: a folder, a pipe or a device; only what has an end is
  // read. Io: the system refused. Errors are one line that names the file and says what to do.
  static Result<ByteSource> open(const std::filesystem::path& path);

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  // Fills `into` and returns how many bytes; fewer than it holds only at the end. Corrupt, with the
  // place in the file: the gzip data is damaged or cut short. What was inflated before the damage
  // has been given by then.
  Result<std::size_t> read(std::span<char> into);

  const std::filesystem::path& path() const noexcept;
  bool isCompressed() const noexcept;
  // For a progress bar: bytes of the file itself, and how many of them have been taken.
  std::uint64_t fileBytes() const noexcept;
  std::uint64_t fileBytesRead() const noexcept;

 private:
  struct State;
  explicit ByteSource(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace sonde::ingest
