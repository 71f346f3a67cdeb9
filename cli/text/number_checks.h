// Checks of options that take numbers. Plain functions. CLI11's own accept "nan", and print the
// smallest and the largest number with about 600 digits.
#pragma once

#include "base/text/number.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include <CLI/CLI.hpp>

namespace sonde::cli {

inline CLI::Validator positiveNumber() {
  return {[](const std::string& text) {
            return numberOf(text).value_or(0) > 0
                       ? std::string()
                       : fmt::format("'{}' is not a number above 0", text);
          },
          ""};
}

inline CLI::Validator numberBetween(double least, double most) {
  return {[least, most](const std::string& text) {
            const auto value = numberOf(text);
            return value && *value >= least && *value <= most
                       ? std::string()
                       : fmt::format("'{}' is not a number from {} to {}", text, least, most);
          },
          ""};
}

// Accepts only digits: a count or an ordinal.
inline CLI::Validator count() {
  return {[](const std::string& text) {
            constexpr std::size_t kMostDigits = 9;
            const bool isCount = !text.empty() && text.size() <= kMostDigits &&
                                 text.find_first_not_of("0123456789") == std::string::npos;
            return isCount ? std::string()
                           : fmt::format("'{}' is not a whole number from 0 to 999999999", text);
          },
          ""};
}

}  // namespace sonde::cli
