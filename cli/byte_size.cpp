#include "cli/byte_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

namespace sonde::cli {
namespace {

struct Unit {
  std::string_view name;
  long double bytes;
};

constexpr Unit kUnits[] = {{"", 1},
                           {"b", 1},
                           {"kb", 1e3L},
                           {"mb", 1e6L},
                           {"gb", 1e9L},
                           {"tb", 1e12L},
                           {"kib", 1024},
                           {"mib", 1024.L * 1024},
                           {"gib", 1024.L * 1024 * 1024},
                           {"tib", 1024.L * 1024 * 1024 * 1024}};

std::string unitOf(std::string_view text) {
  std::string unit;
  for (const char character : text)
    if (character != ' ')
      unit.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(character))));
  return unit;
}

}  // namespace

Result<std::uint64_t> parseByteSize(std::string_view text) {
  constexpr long double kMost = 9.2e18L;
  const Error wrong{
      ErrorCode::InvalidArgument,
      fmt::format(
          "{} is no size: write a number of bytes, or one with kB, MB, GB, KiB, MiB or GiB, "
          "as 512MiB or 1.5GB",
          text)};
  long double number = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || number < 0)
    return wrong;
  const std::string name = unitOf(text.substr(static_cast<std::size_t>(parsed.ptr - text.data())));
  const auto* unit = std::find_if(
      std::begin(kUnits), std::end(kUnits), [&](const Unit& one) { return one.name == name; });
  // The negation also catches what is no number.
  if (unit == std::end(kUnits) || !(number * unit->bytes <= kMost))
    return wrong;
  return static_cast<std::uint64_t>(number * unit->bytes);
}

}  // namespace sonde::cli
