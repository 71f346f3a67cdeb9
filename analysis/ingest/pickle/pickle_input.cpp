#include "analysis/ingest/pickle/pickle_input.h"

#include <fmt/format.h>

#include <charconv>

namespace sonde::ingest {
namespace {

constexpr unsigned kBitsPerByte = 8;

}  // namespace

Error PickleInput::failed(std::string_view what, std::string_view remedy) const {
  return {ErrorCode::Corrupt,
          fmt::format("'{}': the pickle's opcode {} at byte {} {}: {}",
                      file_,
                      opcode_,
                      opcodeAt_,
                      what,
                      remedy)};
}

Error PickleInput::damaged(std::string_view what) const {
  return failed(what, "was the file copied whole?");
}

Error PickleInput::unknownOpcode(unsigned char code) const {
  return {
      ErrorCode::Corrupt,
      fmt::format("'{}': byte {} is 0x{:02x}, which is no opcode of a pickle: was the file copied "
                  "whole?",
                  file_,
                  opcodeAt_,
                  code)};
}

Result<unsigned char> PickleInput::nextOpcode() {
  opcodeAt_ = at_;
  opcode_ = "STOP";
  if (at_ == bytes_.size())
    return damaged("is missing");
  return static_cast<unsigned char>(bytes_[at_++]);
}

Result<std::string_view> PickleInput::take(std::uint64_t bytes) {
  if (bytes > bytes_.size() - at_)
    return damaged(
        fmt::format("needs {} bytes, but {} are left in the file", bytes, bytes_.size() - at_));
  const std::string_view taken = bytes_.substr(at_, bytes);
  at_ += bytes;
  return taken;
}

Result<std::uint64_t> PickleInput::number(unsigned width) {
  SONDE_TRY_ASSIGN(const std::string_view bytes, take(width));
  std::uint64_t value = 0;
  for (unsigned byte = 0; byte < width; ++byte)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[byte]))
             << (kBitsPerByte * byte);
  return value;
}

Result<std::string_view> PickleInput::counted(unsigned width) {
  SONDE_TRY_ASSIGN(const std::uint64_t length, number(width));
  return take(length);
}

Result<std::string_view> PickleInput::line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == bytes_.npos)
    return damaged("has no end of its line");
  const std::string_view text = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return text;
}

Result<std::int64_t> PickleInput::decimal() {
  SONDE_TRY_ASSIGN(const std::string_view text, line());
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    return damaged("has no whole number of 64 bits");
  return value;
}

}  // namespace sonde::ingest
