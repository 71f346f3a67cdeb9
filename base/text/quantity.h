// Parses numbers with units: 512MiB, 1.5 h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sonde {

struct Unit {
  std::string_view name;  // in lower case; empty for a number alone
  long double factor;
};

// The number times its unit's factor, rounded down. Ignores case and spaces of the unit. Unset: not
// a number, negative, an unknown unit, or above 9.2e18.
std::optional<std::int64_t> parseQuantity(std::string_view text, std::span<const Unit> units);

}  // namespace sonde
