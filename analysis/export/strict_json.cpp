#include "analysis/export/strict_json.h"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace sonde::exports {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kAround = "{}[],:\" \t\r\n";  // words and numbers

// Removes digits from the front; returns whether there were any.
bool takeDigits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of(kDigits), text.size());
  text.remove_prefix(count);
  return count > 0;
}

bool takeOneOf(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos)
    return false;
  text.remove_prefix(1);
  return true;
}

// RFC 8259, section 6.
bool isNumber(std::string_view text) {
  takeOneOf(text, "-");
  if (!takeOneOf(text, "0") && !takeDigits(text))
    return false;
  if (takeOneOf(text, ".") && !takeDigits(text))
    return false;
  if (takeOneOf(text, "eE")) {
    takeOneOf(text, "+-");
    if (!takeDigits(text))
      return false;
  }
  return text.empty();
}

// The length of the string at the start of `text`, including quotes.
std::size_t lengthOfString(std::string_view text) {
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"')
    at += text[at] == '\\' ? 2U : 1U;
  return std::min(at + 1, text.size());
}

// Puts quotes around each word and number that is not JSON.
std::string quoteWords(std::string_view text) {
  std::string json;
  json.reserve(text.size());
  while (!text.empty()) {
    const bool isString = text.front() == '"';
    const bool isAround = !isString && kAround.find(text.front()) != std::string_view::npos;
    const std::size_t length = isString   ? lengthOfString(text)
                               : isAround ? 1
                                          : std::min(text.find_first_of(kAround), text.size());
    const std::string_view piece = text.substr(0, length);
    const bool known = isString || isAround || piece == "true" || piece == "false" ||
                       piece == "null" || isNumber(piece);
    json.append(known ? "" : "\"").append(piece).append(known ? "" : "\"");
    text.remove_prefix(length);
  }
  return json;
}

// Invalid UTF-8 becomes U+FFFD.
std::string stringOf(std::string_view text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string strictJson(std::string_view text) {
  std::string json = quoteWords(text);
  return nlohmann::json::accept(json) ? json : fmt::format(R"({{"args":{}}})", stringOf(text));
}

}  // namespace sonde::exports
