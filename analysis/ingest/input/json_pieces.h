// A JSON trace of any size, in pieces that fit into memory: the members of its top level, and its
// array of events in runs of whole events.
//
//   {"schemaVersion": 1, "traceEvents": [ {…}, {…}, │ {…}, {…} ], "traceName": "…"}
//    └── Member ──────┘                 └─ Elements ┘ └─ Elements ┘  └── Member ───┘
//
// Owned by one importer, on one thread. Memory: a window, or the longest event when that is larger.
#pragma once

#include "analysis/ingest/input/byte_source.h"
#include "analysis/ingest/input/json_scanner.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::ingest {

class JsonPieces {
 public:
  struct Piece {
    enum class Kind { Member, Elements, End };
    Kind kind = Kind::End;
    std::string_view key;  // as in the file, without quotes; empty: the top level is an array
    // Member: the value. Elements: "[…]" with one or more events. Up to kPadding bytes after the
    // end may be read. Valid until the next call.
    std::string_view text;
    std::uint64_t offset = 0;  // of the text's first byte in the (inflated) file
  };
  static constexpr std::size_t kPadding = 64;  // simdjson reads this far past the end
  static constexpr std::size_t kWindow = 1 << 20;
  // No real trace has a longer event or member.
  static constexpr std::size_t kLongest = 64 << 20;

  // `eventsKey`: name of the member with the array of events. If the top level is an array, it is
  // taken instead.
  JsonPieces(ByteSource source, std::string eventsKey);

  // Corrupt, with file and offset: the text is not JSON at its top level, is cut short, has an
  // event longer than kLongest, or continues after its end. All complete events before that were
  // returned first. After an error or End nothing follows. The closing bracket of a top-level array
  // may be missing, as the Chrome trace format allows.
  Result<Piece> next();

  const ByteSource& source() const noexcept { return source_; }

 private:
  enum class State { Begin, Members, Events, Tail, Done };

  Result<Piece> begin();
  Result<Piece> nextMember();
  Result<Piece> nextEvents();
  Result<Piece> eventsCutShort();
  Result<Piece> tail();
  Result<std::string_view> key();
  Result<std::string_view> memberValue();

  Result<char> peek();  // the next byte that is not white space; '\0' at the end
  Result<bool> fill();  // false: end of file
  Piece elements(std::size_t size);
  Error corrupt(std::string_view what, std::size_t at);

  ByteSource source_;
  std::string eventsKey_;
  JsonScanner scanner_;
  State state_ = State::Begin;
  bool topIsArray_ = false;
  // buffer_[begin_, end_) has been read but not returned; the byte before it may be overwritten.
  std::vector<char> buffer_;
  std::size_t begin_ = 1;
  std::size_t end_ = 1;
  std::size_t scanned_ = 0;   // bytes from begin_ that the scanner has seen
  std::uint64_t offset_ = 0;  // of buffer_[begin_] in the file
  std::string currentKey_;
};

}  // namespace sonde::ingest
