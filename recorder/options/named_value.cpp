#include "recorder/options/named_value.h"

#include <strings.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace sonde::recorder {

namespace {

constexpr std::string_view kQuotes = "\"'`";
constexpr std::string_view kQuotesAndEscapes = "\"'`\\";
constexpr std::string_view kWordEnds = " \t\r\n;&|()<>";
constexpr std::string_view kAfterQuotes = " \t\r\n;&|()<>,:]}";

bool isOneOf(std::string_view set, std::string_view text, std::size_t at) {
  return at < text.size() && set.find(text[at]) != std::string_view::npos;
}

std::size_t skip(std::string_view set, std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(set, at), text.size());
}

// A quote inside a word, as in a"b"c, does not end the word.
bool quoteEndsWord(std::string_view text, std::size_t at) {
  const std::size_t next = skip(kQuotesAndEscapes, text, at);
  return next == text.size() || isOneOf(kAfterQuotes, text, next);
}

std::size_t wordEnd(std::string_view text, std::size_t at) {
  while (at < text.size() && !isOneOf(kWordEnds, text, at) &&
         !(isOneOf(kQuotesAndEscapes, text, at) && quoteEndsWord(text, at)))
    ++at;
  return at;
}

// Returns the position of the same quote after the same number of backslashes, or the text's end.
std::size_t closingQuote(std::string_view text, std::size_t begin, std::string_view opening) {
  for (std::size_t at = text.find(opening, begin); at != std::string_view::npos;
       at = text.find(opening, at + 1)) {
    if (at == begin || text[at - 1] != '\\')
      return at;
  }
  return text.size();
}

ValueSpan spanAt(std::string_view text, std::size_t at) {
  const std::size_t quote = skip("\\", text, at);
  if (!isOneOf(kQuotes, text, quote))
    return {at, wordEnd(text, at)};
  const std::size_t begin = quote + 1;
  const std::size_t end = closingQuote(text, begin, text.substr(at, begin - at));
  return {begin, end == text.size() || quoteEndsWord(text, end) ? end : wordEnd(text, end)};
}

// The value in an HTTP header or a line of YAML.
ValueSpan restOfLine(std::string_view text, std::size_t nameBegin, std::size_t at) {
  const bool quoted = nameBegin > 0 && isQuote(text[nameBegin - 1]);
  const std::string ends = quoted ? std::string{'\n', text[nameBegin - 1]} : "\n\"'`";
  return {at, std::min(text.find_first_of(ends, at), text.size())};
}

std::optional<ValueSpan> assignedValue(std::string_view text,
                                       std::size_t begin,
                                       std::size_t end,
                                       std::size_t sign) {
  std::size_t at = skip("=", text, sign + 1);
  if (text[sign] == ':') {
    if (isOneOf(":/", text, at))  // a::b, http://
      return std::nullopt;
    at = skip(kBlanks, text, at);
    const bool bare = !isOneOf(kQuotesAndEscapes, text, at);
    if (bare && sign > end)  // "name": 1}
      return ValueSpan{at, std::min(wordEnd(text, at), text.find_first_of(",]}", at))};
    if (bare && at > sign + 1)
      return restOfLine(text, begin, at);
  } else if (sign > 0 && isOneOf(kBlanks, text, sign - 1)) {
    at = skip(kBlanks, text, at);
  }
  return spanAt(text, at);
}

bool isBearer(std::string_view name) {
  constexpr std::string_view kBearer = "bearer";
  return name.size() == kBearer.size() &&
         ::strncasecmp(name.data(), kBearer.data(), kBearer.size()) == 0;
}

std::optional<ValueSpan> nextWord(std::string_view text, std::size_t end) {
  std::size_t at = skip(" \t\r\n\"'`\\,", text, end);
  if (at == end || at == text.size() || text[at] == '-' || isOneOf(kAfterQuotes, text, at))
    return std::nullopt;
  while (at > end && isOneOf(kQuotesAndEscapes, text, at - 1))  // its opening quote
    --at;
  return spanAt(text, at);
}

}  // namespace

bool isQuote(char letter) {
  return kQuotes.find(letter) != std::string_view::npos;
}

bool isNameLetter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-' ||
         letter == '.';
}

std::size_t nameEnd(std::string_view text, std::size_t at) {
  while (at < text.size() && isNameLetter(text[at]))
    ++at;
  return at;
}

std::optional<ValueSpan> valueOf(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t sign = skip(kBlanks, text, skip(kQuotesAndEscapes, text, end));
  const std::string_view name = text.substr(begin, end - begin);
  std::optional<ValueSpan> value;
  if (isOneOf("=:", text, sign))
    value = assignedValue(text, begin, end, sign);
  else if (name.starts_with('-') || isBearer(name))
    value = nextWord(text, end);
  return value && value->begin < value->end ? value : std::nullopt;
}

}  // namespace sonde::recorder
