#include "base/text/number.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace sonde {

std::optional<double> numberOf(const std::string& text) {
  const std::size_t sign = text.starts_with('+') ? 1 : 0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data() + sign, text.data() + text.size(), value);
  const bool isNumber =
      error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  return isNumber ? std::optional(value) : std::nullopt;
}

}  // namespace sonde
