// The check of options that take a number above 0. A plain function.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include <CLI/CLI.hpp>

namespace sonde::cli {

// CLI11's own names the smallest and the largest number that there is, in some 600 digits, and
// takes "nan".
inline CLI::Validator positiveNumber() {
  return {[](const std::string& text) {
            double value = 0;
            const bool isNumber = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
            return isNumber && value > 0 ? std::string()
                                         : fmt::format("'{}' is no number above 0", text);
          },
          ""};
}

}  // namespace sonde::cli
