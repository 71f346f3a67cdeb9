// Numbers of iterations as users give them. A pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace sonde::cli {

// "7-9", or "7" alone. Empty: neither, or no numbers from 0 up, in order.
std::optional<std::pair<std::int64_t, std::int64_t>> parseNumberRange(std::string_view text);

}  // namespace sonde::cli
