// Finds where the values of a JSON text begin and end, without parsing them.
//
// Reads 64 bytes at a time: the quotes tell which bytes lie in strings (a prefix XOR, as in
// Langdale and Lemire, "Parsing Gigabytes of JSON per Second", VLDB Journal 2019, §3.1), and the
// brackets outside of strings are counted. Whether a value is well formed is for its parser to say.
//
// A plain object of one thread; its place in the text is kept between calls, so that a text may
// come in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonde::ingest {

class JsonScanner {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Found {
    std::size_t comma = kNone;  // between elements
    std::size_t end = kNone;    // the bracket that closes what the elements are in
  };
  enum class Stop { AtEnd, AtComma };

  // Begins anew, inside an array or an object and before an element of it.
  void reset() noexcept { *this = JsonScanner(); }

  // Goes on over `text`, which follows what was scanned before, up to the end of the array or
  // object, and with Stop::AtComma no further than the first comma between elements; else `comma`
  // is the last one. Places are in `text`.
  Found scan(std::string_view text, Stop stop) noexcept;

  // Whether what was scanned ends between two tokens of the array or object itself.
  bool betweenElements() const noexcept { return depth_ == 0 && inString_ == 0; }

 private:
  struct Block;

  void scanBlock(const Block& block, std::size_t at, Stop stop, Found& found) noexcept;
  void scanBits(const Block& block, std::size_t at, Stop stop, Found& found) noexcept;

  std::int64_t depth_ = 0;      // of brackets inside the array
  std::uint64_t inString_ = 0;  // all ones: the next byte is inside a string
  std::uint64_t escaped_ = 0;   // 1: the next byte is escaped
};

}  // namespace sonde::ingest
