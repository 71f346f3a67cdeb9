#include "analysis/ingest/trace_event/text_repair.h"

#include "analysis/ingest/input/json_pieces.h"
#include "base/utf8.h"

#include <algorithm>

namespace sonde::ingest {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD, replaces one byte

// Tracks, character by character, whether the next one is in a string.
class StringState {
 public:
  bool isInside() const noexcept { return inside_; }
  void pass(char c) noexcept {
    if (escaped_)
      escaped_ = false;
    else if (c == '"')
      inside_ = !inside_;
    else
      escaped_ = inside_ && c == '\\';
  }

 private:
  bool inside_ = false;
  bool escaped_ = false;
};

constexpr std::size_t kHexDigits = 4;

// Whether JSON knows the escape whose backslash comes before `rest`.
bool isKnownEscape(std::string_view rest) noexcept {
  if (rest.empty())
    return false;
  if (rest.front() != 'u')
    return std::string_view("\"\\/bfnrt").find(rest.front()) != std::string_view::npos;
  const std::string_view digits = rest.substr(1, kHexDigits);
  return digits.size() == kHexDigits &&
         digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

struct StringScan {
  std::size_t end = 0;      // of its closing quote
  bool hasUnknown = false;  // escape
};

// Scans the string whose opening quote is at `begin`.
StringScan scanString(std::string_view json, std::size_t begin) noexcept {
  StringScan scan;
  std::size_t at = begin + 1;
  for (; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] != '\\')
      continue;
    scan.hasUnknown = scan.hasUnknown || !isKnownEscape(json.substr(at + 1));
    ++at;
  }
  scan.end = std::min(at, json.size());
  return scan;
}

void appendLiteral(std::string_view text, std::string& into) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    into.push_back(text[at]);
    const bool escapesQuote = at + 1 < text.size() && text[at + 1] == '"';
    if (text[at] == '\\' && !escapesQuote)
      into.push_back('\\');
  }
}

}  // namespace

std::string withKnownEscapes(std::string_view json) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = json.find('"'); at < json.size(); at = json.find('"', at + 1)) {
    const StringScan string = scanString(json, at);
    if (string.hasUnknown) {
      result.append(json, done, at + 1 - done);
      appendLiteral(json.substr(at + 1, string.end - at - 1), result);
      done = string.end;
    }
    at = string.end;
  }
  return done == 0 ? std::string() : result.append(json.substr(done));
}

// A replacement character from the damaged text does not count.
bool TextRepair::isReplacement(std::size_t before, std::size_t after) const noexcept {
  return repaired_.compare(after, kReplacement.size(), kReplacement) == 0 &&
         damaged_.compare(before, kReplacement.size(), kReplacement) != 0;
}

void TextRepair::note(std::size_t place) noexcept {
  if (replaced_++ == 0)
    first_ = place;
}

void TextRepair::repair(std::string_view damaged) {
  damaged_ = damaged;
  repaired_ = toText(damaged);
  size_ = repaired_.size();
  replaced_ = 0;
  StringState strings;
  for (std::size_t before = 0, after = 0; after < size_; ++before) {
    if (isReplacement(before, after)) {
      note(before);
      strings.pass(' ');
      after += kReplacement.size();
      continue;
    }
    char& c = repaired_[after++];
    if (static_cast<unsigned char>(c) < ' ') {
      if (strings.isInside())
        note(before);
      c = ' ';
    }
    strings.pass(c);
  }
  repaired_.append(JsonPieces::kPadding, ' ');
}

std::size_t TextRepair::placeBefore(std::size_t place) const noexcept {
  std::size_t before = 0;
  for (std::size_t after = 0; after < place; ++before)
    after += isReplacement(before, after) ? kReplacement.size() : 1;
  return before;
}

}  // namespace sonde::ingest
