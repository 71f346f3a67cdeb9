#include "analysis/export/svg_text.h"

#include <algorithm>

namespace sonde::exports {
namespace {

constexpr std::size_t kShort = 3;  // fewer letters are not useful

bool beginsLetter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

}  // namespace

std::string svgEscaped(std::string_view text) {
  std::string out;
  for (const char each : text) {
    if (each == '<')
      out += "&lt;";
    else if (each == '>')
      out += "&gt;";
    else if (each == '&')
      out += "&amp;";
    else if (each == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(each) < ' ' ? ' ' : each;
  }
  return out;
}

std::size_t letterCount(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), beginsLetter));
}

std::string svgShortened(std::string_view text, std::size_t most) {
  if (most < kShort)
    return "";
  if (letterCount(text) <= most)
    return std::string(text);
  std::size_t letters = 0;
  const auto* const end = std::find_if(text.begin(), text.end(), [&](char byte) {
    return beginsLetter(byte) && ++letters > most - 2;
  });
  return std::string(text.begin(), end) + "..";
}

}  // namespace sonde::exports
