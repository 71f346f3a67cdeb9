#include "cli/text/number_range.h"

#include <charconv>

namespace sonde::cli {
namespace {

std::optional<std::int64_t> numberOf(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return std::nullopt;
  return number;
}

}  // namespace

std::optional<NumberRange> parseNumberRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = numberOf(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : numberOf(text.substr(dash + 1));
  if (!first || !last || *last < *first)
    return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace sonde::cli
