// Reads a file of length-prefixed protobuf messages, such as Chakra's execution traces.
//
// Owned by one importer, on one thread. Memory: the largest message.
#pragma once

#include "analysis/ingest/input/byte_source.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::ingest {

class MessageReader {
 public:
  explicit MessageReader(ByteSource source) : source_(std::move(source)) {}

  // Reads the next message into `message`; false: end of file. Corrupt, with the place: the file
  // ends inside a message, or a length is invalid; nothing can be read after that.
  Result<bool> next(std::string& message);

  // Where the last message begins, in the inflated file.
  std::uint64_t offset() const noexcept { return offset_; }
  const ByteSource& source() const noexcept { return source_; }

 private:
  Result<bool> nextByte(unsigned char& byte);
  Result<bool> readLength(std::uint64_t& length);
  Error broken(std::string_view what) const;

  ByteSource source_;
  std::array<char, 64 << 10> buffer_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t position_ = 0;  // of the bytes already read
  std::uint64_t offset_ = 0;
};

}  // namespace sonde::ingest
