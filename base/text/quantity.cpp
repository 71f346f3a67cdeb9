#include "base/text/quantity.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

namespace sonde {
namespace {

std::string nameOfUnit(std::string_view text) {
  std::string name;
  for (const char character : text)
    if (character != ' ')
      name.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(character))));
  return name;
}

}  // namespace

std::optional<std::int64_t> parseQuantity(std::string_view text, std::span<const Unit> units) {
  constexpr long double kMost = 9.2e18L;
  long double number = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || number < 0)
    return std::nullopt;
  const std::string name =
      nameOfUnit(text.substr(static_cast<std::size_t>(parsed.ptr - text.data())));
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& one) { return one.name == name; });
  // The negation also catches NaN.
  if (unit == units.end() || !(number * unit->factor <= kMost))
    return std::nullopt;
  return static_cast<std::int64_t>(number * unit->factor);
}

}  // namespace sonde
