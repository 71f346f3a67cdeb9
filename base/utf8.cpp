#include "base/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sonde {
namespace {

constexpr char32_t kLargest = 0x10FFFF;

struct Form {
  unsigned char mask;  // of the first byte's marker bits
  unsigned char marker;
  std::size_t length;
  char32_t smallest;  // smaller values are overlong
};
constexpr Form kForms[] = {
    {0x80, 0x00, 1, 0x01}, {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}};

// The number of leading bytes that are ASCII without NUL, a multiple of the word size. Most texts
// are entirely ASCII.
std::size_t plainPrefix(std::string_view text) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080'8080'8080'8080;
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    // A byte of 0 borrows, so its high bit is then set.
    if (((word | (word - kOnes)) & kHighBits) != 0)
      break;
  }
  return at;
}

// The length of the character at the start of `text`; 0 if it is invalid.
std::size_t characterLength(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  for (const Form& form : kForms) {
    if ((first & form.mask) != form.marker)
      continue;
    if (text.size() < form.length)
      return 0;
    char32_t code = first & static_cast<unsigned char>(~form.mask);
    for (std::size_t i = 1; i < form.length; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if ((byte & 0xC0U) != 0x80U)
        return 0;
      code = code << 6U | (byte & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < form.smallest || code > kLargest || surrogate ? 0 : form.length;
  }
  return 0;
}

}  // namespace

bool isText(std::string_view text) noexcept {
  text.remove_prefix(plainPrefix(text));
  while (!text.empty()) {
    const std::size_t length = characterLength(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string toText(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = characterLength(text);
    if (length == 0)
      result += "\xEF\xBF\xBD";
    else
      result += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace sonde
