#include "analysis/ingest/input/json_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sonde::ingest {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

constexpr bool isSpace(char c) noexcept {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

JsonPieces::JsonPieces(ByteSource source, std::string eventsKey)
    : source_(std::move(source)), eventsKey_(std::move(eventsKey)), buffer_(kWindow + kPadding) {}

Error JsonPieces::corrupt(std::string_view what, std::size_t at) {
  state_ = State::Done;
  return Error{ErrorCode::Corrupt,
               fmt::format("'{}': {} at byte {}", source_.path().string(), what, offset_ + at)};
}

// Moves the rest to the front and reads more.
Result<bool> JsonPieces::fill() {
  std::memmove(buffer_.data() + 1, buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_ - 1;
  begin_ = 1;
  if (end_ + kPadding >= buffer_.size())
    buffer_.resize(2 * buffer_.size());
  SONDE_TRY_ASSIGN(const std::size_t got,
                   source_.read({buffer_.data() + end_, buffer_.size() - kPadding - end_}));
  end_ += got;
  return got > 0;
}

Result<char> JsonPieces::peek() {
  for (;;) {
    while (begin_ < end_ && isSpace(buffer_[begin_])) {
      ++begin_;
      ++offset_;
    }
    if (begin_ < end_)
      return buffer_[begin_];
    SONDE_TRY_ASSIGN(const bool more, fill());
    if (!more)
      return '\0';
  }
}

Result<JsonPieces::Piece> JsonPieces::next() {
  switch (state_) {
    case State::Begin:
      return begin();
    case State::Members:
      return nextMember();
    case State::Events:
      return nextEvents();
    case State::Tail:
      return tail();
    case State::Done:
      break;
  }
  return Piece{};
}

// After the bracket that closes the text.
Result<JsonPieces::Piece> JsonPieces::tail() {
  SONDE_TRY_ASSIGN(const char first, peek());
  if (first != '\0')
    return corrupt("there is data after the end of its JSON text", 0);
  state_ = State::Done;
  return Piece{};
}

Result<JsonPieces::Piece> JsonPieces::begin() {
  SONDE_TRY(fill());
  if (std::string_view(buffer_.data() + begin_, end_ - begin_).starts_with(kByteOrderMark)) {
    begin_ += kByteOrderMark.size();
    offset_ += kByteOrderMark.size();
  }
  SONDE_TRY_ASSIGN(const char first, peek());
  if (first != '{' && first != '[')
    return corrupt("expected a JSON object or array", 0);
  ++begin_;
  ++offset_;
  topIsArray_ = first == '[';
  state_ = topIsArray_ ? State::Events : State::Members;
  return next();
}

// The name of a member, `"name"`; it stays in the buffer.
Result<std::string_view> JsonPieces::key() {
  std::size_t at = 1;
  for (;; ++at) {
    if (begin_ + at >= end_) {
      SONDE_TRY_ASSIGN(const bool more, fill());
      if (!more)
        return corrupt("the file is cut short: it ends in the name of a member", at);
    }
    const char c = buffer_[begin_ + at];
    if (c == '"')
      return std::string_view(buffer_.data() + begin_ + 1, at - 1);
    if (c == '\\')
      ++at;
    if (at > kWindow)
      return corrupt("a member's name does not end", 0);
  }
}

// The value at this place, up to its comma or bracket, which are not consumed.
Result<std::string_view> JsonPieces::memberValue() {
  scanner_.reset();
  std::size_t scanned = 0;
  for (;;) {
    const std::string_view unseen(buffer_.data() + begin_ + scanned, end_ - begin_ - scanned);
    const auto found = scanner_.scan(unseen, JsonScanner::Stop::AtComma);
    const std::size_t stop = std::min(found.comma, found.end);
    if (stop != JsonScanner::kNone)
      return std::string_view(buffer_.data() + begin_, scanned + stop);
    scanned += unseen.size();
    if (scanned > kLongest)
      return corrupt("a member is too long", 0);
    SONDE_TRY_ASSIGN(const bool more, fill());
    if (!more)
      return corrupt("the file is cut short: it ends in a member of its top level", scanned);
  }
}

Result<JsonPieces::Piece> JsonPieces::nextMember() {
  SONDE_TRY_ASSIGN(char c, peek());
  if (c == ',') {
    ++begin_;
    ++offset_;
    SONDE_TRY_ASSIGN(c, peek());
  }
  if (c == '}') {
    ++begin_;
    ++offset_;
    state_ = State::Tail;
    return next();
  }
  if (c == '\0')
    return corrupt("the file is cut short: its closing bracket is missing", 0);
  if (c != '"')
    return corrupt("the name of a member is missing", 0);
  SONDE_TRY_ASSIGN(const std::string_view name, key());
  currentKey_ = name;
  begin_ += currentKey_.size() + 2;
  offset_ += currentKey_.size() + 2;
  SONDE_TRY_ASSIGN(c, peek());
  if (c != ':')
    return corrupt("a colon is missing", 0);
  ++begin_;
  ++offset_;
  SONDE_TRY_ASSIGN(c, peek());
  if (c == '[' && currentKey_ == eventsKey_) {
    ++begin_;
    ++offset_;
    scanner_.reset();
    scanned_ = 0;
    state_ = State::Events;
    return nextEvents();
  }
  SONDE_TRY_ASSIGN(const std::string_view value, memberValue());
  const Piece piece{Piece::Kind::Member, currentKey_, value, offset_};
  begin_ += value.size();
  offset_ += value.size();
  return piece;
}

// The next `size` bytes and the separator after them, as an array of their own.
JsonPieces::Piece JsonPieces::elements(std::size_t size) {
  buffer_[begin_ - 1] = '[';
  buffer_[begin_ + size] = ']';
  const Piece piece{Piece::Kind::Elements,
                    currentKey_,
                    std::string_view(buffer_.data() + begin_ - 1, size + 2),
                    offset_ - 1};
  begin_ += size + 1;
  offset_ += size + 1;
  return piece;
}

Result<JsonPieces::Piece> JsonPieces::nextEvents() {
  for (;;) {
    const std::string_view unseen(buffer_.data() + begin_ + scanned_, end_ - begin_ - scanned_);
    const auto found = scanner_.scan(unseen, JsonScanner::Stop::AtEnd);
    if (found.end != JsonScanner::kNone) {
      state_ = topIsArray_ ? State::Tail : State::Members;
      const std::size_t size = scanned_ + found.end;
      scanned_ = 0;
      const std::string_view rest(buffer_.data() + begin_, size);
      const Piece last = elements(size);
      return std::all_of(rest.begin(), rest.end(), isSpace) ? next() : last;
    }
    if (found.comma != JsonScanner::kNone) {
      const std::size_t size = scanned_ + found.comma;
      scanned_ += unseen.size() - (size + 1);
      return elements(size);
    }
    scanned_ += unseen.size();
    if (scanned_ > kLongest)
      return corrupt("an event is too long", 0);
    SONDE_TRY_ASSIGN(const bool more, fill());
    if (!more)
      return eventsCutShort();
  }
}

// The file ended inside the array. Returns complete events first.
Result<JsonPieces::Piece> JsonPieces::eventsCutShort() {
  const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
  const bool nothing = std::all_of(rest.begin(), rest.end(), isSpace);
  if (!nothing && scanner_.betweenElements()) {
    const Piece last = elements(rest.size());
    end_ = begin_;
    scanned_ = 0;
    return last;
  }
  if (!nothing || !topIsArray_)
    return corrupt("the file is cut short: it ends among its events", rest.size());
  state_ = State::Done;
  return Piece{};
}

}  // namespace sonde::ingest
