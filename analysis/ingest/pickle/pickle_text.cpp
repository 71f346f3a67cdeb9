#include "analysis/ingest/pickle/pickle_text.h"

#include <charconv>
#include <cstdint>

namespace sonde::ingest {
namespace {

// `digits` hexadecimal digits at the start of `text`; unset: there are fewer.
std::optional<std::uint32_t> hexAt(std::string_view text, std::size_t digits) noexcept {
  std::uint32_t value = 0;
  if (text.size() < digits)
    return {};
  const char* const last = text.data() + digits;
  const auto [end, error] = std::from_chars(text.data(), last, value, 16);
  return error == std::errc{} && end == last ? std::optional(value) : std::nullopt;
}

void appendUtf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

// The character of a one-letter escape; 0: it is none.
char simpleEscape(char letter) noexcept {
  constexpr std::string_view kLetters = "\\'\"abfnrtv";
  constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
  const std::size_t at = kLetters.find(letter);
  return at == kLetters.npos ? '\0' : kMeanings[at];
}

}  // namespace

std::optional<std::string> unquoted(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != literal.back() ||
      (literal.front() != '\'' && literal.front() != '"'))
    return {};
  literal = literal.substr(1, literal.size() - 2);
  std::string text;
  for (std::size_t at = 0; at < literal.size(); ++at) {
    if (literal[at] != '\\') {
      text += literal[at];
      continue;
    }
    if (++at == literal.size())
      return {};
    const char letter = literal[at];
    if (const char simple = simpleEscape(letter); simple != '\0') {
      text += simple;
    } else if (letter == 'x') {
      const auto code = hexAt(literal.substr(at + 1), 2);
      if (!code)
        return {};
      text += static_cast<char>(*code);
      at += 2;
    } else if (letter >= '0' && letter <= '7') {
      unsigned code = 0;
      std::size_t digits = 0;
      for (; digits < 3 && at + digits < literal.size() && literal[at + digits] >= '0' &&
             literal[at + digits] <= '7';
           ++digits)
        code = 8 * code + static_cast<unsigned>(literal[at + digits] - '0');
      text += static_cast<char>(code);
      at += digits - 1;
    } else {
      text += '\\';
      text += letter;
    }
  }
  return text;
}

std::optional<std::string> unescaped(std::string_view text) {
  constexpr std::uint32_t kLastCode = 0x10FFFF;
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool isEscape =
        text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == 'u' || text[at + 1] == 'U');
    if (!isEscape) {
      appendUtf8(result, static_cast<unsigned char>(text[at]));
      continue;
    }
    const std::size_t digits = text[at + 1] == 'u' ? 4 : 8;
    const auto code = hexAt(text.substr(at + 2), digits);
    if (!code || *code > kLastCode)
      return {};
    appendUtf8(result, *code);
    at += 1 + digits;
  }
  return result;
}

}  // namespace sonde::ingest
