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
    std::string_view key;  // as in the file, without its quotes; empty: the top level is an array
    // Member: the value. Elements: "[…]" with one or more events. kPadding bytes may be read past
    // its end. Valid until the next call.
    std::string_view text;
    std::uint64_t offset = 0;  // of the text's first byte in the (inflated) file
  };
  static constexpr std::size_t kPadding = 64;  // what simdjson reads past the end
  static constexpr std::size_t kWindow = 1 << 20;
  // A longer event or member is no trace's.
  static constexpr std::size_t kLongest = 64 << 20;

  // `eventsKey` names the member whose array is given in runs. A top level that is an array is
  // taken for that array.
  JsonPieces(ByteSource source, std::string eventsKey);

  // Corrupt: the text is not JSON at its top level, is cut short, or an event is
  // longer than kLongest, or more follows its end; with the file and the offset. All whole events
  // before that have been given. After an error or End, nothing else comes. The closing bracket of
  // a top-level array may be missing, as the Chrome trace format allows.
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

  Result<char> peek();  // the next byte that is no white space; '\0' at the end
  Result<bool> fill();  // false: the file has ended
  Piece elements(std::size_t size);
  Error corrupt(std::string_view what, std::size_t at);

  ByteSource source_;
  std::string eventsKey_;
  JsonScanner scanner_;
  State state_ = State::Begin;
  bool topIsArray_ = false;
  // buffer_[begin_, end_) has been read and not been given; the byte before it may be overwritten.
  std::vector<char> buffer_;
  std::size_t begin_ = 1;
  std::size_t end_ = 1;
  std::size_t scanned_ = 0;   // bytes from begin_ that the scanner has seen
  std::uint64_t offset_ = 0;  // of buffer_[begin_] in the file
  std::string currentKey_;
};

}  // namespace sonde::ingest
