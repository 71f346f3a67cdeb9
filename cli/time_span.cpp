#include "cli/time_span.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sonde::cli {
namespace {

struct Unit {
  std::string_view name;
  long double ns;
};

constexpr Unit kUnits[] = {
    {"", 1e9L}, {"s", 1e9L}, {"ms", 1e6L}, {"m", 60e9L}, {"min", 60e9L}, {"h", 3600e9L}};

}  // namespace

Result<std::int64_t> parseTimeSpan(std::string_view text) {
  constexpr long double kMost = 9.2e18L;
  const Error wrong{
      ErrorCode::InvalidArgument,
      fmt::format("{} is no span of time: write a number of seconds, or one with ms, s, m or h, as "
                  "30s or 1.5m",
                  text)};
  long double number = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || number < 0)
    return wrong;
  std::string_view name = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
  while (name.starts_with(' '))
    name.remove_prefix(1);
  const auto* unit = std::find_if(
      std::begin(kUnits), std::end(kUnits), [&](const Unit& one) { return one.name == name; });
  // The negation also catches what is no number.
  if (unit == std::end(kUnits) || !(number * unit->ns <= kMost))
    return wrong;
  return static_cast<std::int64_t>(number * unit->ns);
}

}  // namespace sonde::cli
