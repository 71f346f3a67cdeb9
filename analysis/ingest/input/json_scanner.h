// Finds the begins and ends of a JSON text's values without parsing them.
//
// Reads 64 bytes at a time. Quotes show which bytes are in strings (a prefix XOR, as in Langdale
// and Lemire, "Parsing Gigabytes of JSON per Second", VLDB Journal 2019, §3.1). Brackets outside of
// strings are counted. The parser checks whether values are well formed.
//
// A plain object of one thread. It keeps its state between calls, so a text may come in pieces.
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
    std::size_t end = kNone;    // the bracket that closes the array or object
  };
  enum class Stop { AtEnd, AtComma };

  // Restarts, inside an array or object, before an element.
  void reset() noexcept { *this = JsonScanner(); }

  // Scans `text`, which continues the text scanned before, to the end of the array or object. With
  // Stop::AtComma it stops at the first comma between elements; otherwise `comma` is the last one.
  // Offsets are in `text`.
  Found scan(std::string_view text, Stop stop) noexcept;

  // Whether the scanned text ends between two tokens of the array or object itself.
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
