#include "analysis/ingest/chakra/message_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::ingest {
namespace {

// Real nodes have a few KiB; a length beyond this means damage.
constexpr std::uint64_t kLargest = 64 << 20;

}  // namespace

Error MessageReader::broken(std::string_view what) const {
  return {ErrorCode::Corrupt,
          fmt::format("'{}': the message at byte {} {}: was it copied whole?",
                      source_.path().string(),
                      offset_,
                      what)};
}

// False at the end of the file.
Result<bool> MessageReader::nextByte(unsigned char& byte) {
  if (begin_ == end_) {
    SONDE_TRY_ASSIGN(end_, source_.read(buffer_));
    begin_ = 0;
    if (end_ == 0)
      return false;
  }
  byte = static_cast<unsigned char>(buffer_[begin_++]);
  ++position_;
  return true;
}

Result<bool> MessageReader::readLength(std::uint64_t& length) {
  constexpr unsigned kBits = 7;
  length = 0;
  for (unsigned shift = 0; shift < 64; shift += kBits) {
    unsigned char byte = 0;
    SONDE_TRY_ASSIGN(const bool more, nextByte(byte));
    if (!more) {
      if (shift == 0)
        return false;
      return broken("is cut off in its length");
    }
    length |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0)
      return true;
  }
  return broken("has a length of more than ten bytes");
}

Result<bool> MessageReader::next(std::string& message) {
  offset_ = position_;
  message.clear();
  std::uint64_t length = 0;
  SONDE_TRY_ASSIGN(const bool any, readLength(length));
  if (!any)
    return false;
  if (length > kLargest)
    return broken(fmt::format("claims to have {} bytes, which is too many", length));
  while (message.size() < length) {
    if (begin_ == end_) {
      SONDE_TRY_ASSIGN(end_, source_.read(buffer_));
      begin_ = 0;
    }
    if (end_ == 0)
      return broken(fmt::format("is cut off after {} of its {} bytes", message.size(), length));
    const auto part =
        static_cast<std::size_t>(std::min<std::uint64_t>(length - message.size(), end_ - begin_));
    message.append(buffer_.data() + begin_, part);
    begin_ += part;
    position_ += part;
  }
  return true;
}

}  // namespace sonde::ingest
