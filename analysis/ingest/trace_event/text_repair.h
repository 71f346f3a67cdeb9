// A piece of JSON without what no JSON text may hold: bytes that are no UTF-8, and control
// characters in strings. Old files have raw line feeds in names, and some have names cut in the
// middle of a character.
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
  // `damaged` outlives the use of what is asked afterwards.
  void repair(std::string_view damaged);

  // The good text, followed by JsonPieces::kPadding readable bytes.
  std::string_view text() const noexcept { return std::string_view(repaired_).substr(0, size_); }
  // What was replaced: bytes, and the place of the first in the damaged text. 0: nothing.
  std::uint64_t replaced() const noexcept { return replaced_; }
  std::size_t first() const noexcept { return first_; }

  // The place in the damaged text of what is at `place` in the good one.
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

// A JSON text in which escapes that JSON does not know ("C:\Users") stand for themselves: the
// backslashes of each string that has one are doubled, but for those before a quote. Empty: it has
// none. Requires: quotes are balanced, as in a text that was parsed.
std::string withKnownEscapes(std::string_view json);

}  // namespace sonde::ingest
