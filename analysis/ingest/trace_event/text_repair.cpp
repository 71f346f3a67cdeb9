#include "analysis/ingest/trace_event/text_repair.h"

#include "analysis/base/utf8.h"
#include "analysis/ingest/input/json_pieces.h"

namespace sonde::ingest {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD, in the place of one byte

// Whether the next character stands in a string, told character by character.
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

}  // namespace

// A replacement character that was in the damaged text is none.
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
