// Parses ranges of iteration numbers. A pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace sonde::cli {

using NumberRange = std::pair<std::int64_t, std::int64_t>;  // both included

// "7-9", or "7" alone. Unset: neither of these, or not ascending numbers from 0 up.
std::optional<NumberRange> parseNumberRange(std::string_view text);

}  // namespace sonde::cli
