// Errors that name a place in sonde.toml. Any thread.
#pragma once

#include "base/result.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace sonde::rules {

inline constexpr std::string_view kSeverityExpected =
    R"(a severity is expected: use "off", "info", "warning" or "error")";

inline Error at(const std::string& path,
                const toml::source_position& place,
                std::string_view message) {
  return {ErrorCode::InvalidArgument,
          fmt::format("{}:{}:{}: {}", path, place.line, place.column, message)};
}

inline Error at(const std::string& path,
                const toml::source_region& region,
                std::string_view message) {
  return at(path, region.begin, message);
}

}  // namespace sonde::rules
