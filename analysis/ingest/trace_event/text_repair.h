// Repairs a piece of JSON with invalid UTF-8, or control characters in strings. Old files have raw
// line feeds in names, and some have names cut in the middle of a character.
//
// Owned by one reader, on one thread; its buffer is reused from piece to piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::ingest {

class TextRepair {
 public:
  // `damaged` must outlive later calls on this object.
  void repair(std::string_view damaged);

  // The repaired text, followed by JsonPieces::kPadding readable bytes.
  std::string_view text() const noexcept { return std::string_view(repaired_).substr(0, size_); }
  // The number of replaced bytes, and the place of the first in the damaged text. 0: none.
  std::uint64_t replaced() const noexcept { return replaced_; }
  std::size_t first() const noexcept { return first_; }

  // The place in the damaged text for `place` in the repaired one.
  std::size_t placeBefore(std::size_t place) const noexcept;

 private:
  bool isReplacement(std::size_t before, std::size_t after) const noexcept;
  void note(std::size_t place) noexcept;

  std::string_view damaged_;
  std::string repaired_;
  std::size_t size_ = 0;
  std::uint64_t replaced_ = 0;
  std::size_t first_ = 0;
};

// Makes escapes that JSON does not know ("C:\Users") literal: doubles the backslashes of each
// string with such an escape, except before a quote. Empty: the text has none. Requires: quotes are
// balanced, as in a parsed text.
std::string withKnownEscapes(std::string_view json);

}  // namespace sonde::ingest
