// The settings of a rule: declared once with type, default, bounds and help; read by name
// afterwards. `sonde rules`, the reading of sonde.toml and the documentation all come from the
// declaration. Plain values.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sonde::rules {

using ParameterValue = std::variant<std::int64_t, double, std::string>;

struct ParameterSpec {
  std::string name;
  ParameterValue fallback;  // its type is the parameter's type
  std::string help;
  double minimum = -std::numeric_limits<double>::infinity();  // of numbers, inclusive
  double maximum = std::numeric_limits<double>::infinity();
};

std::string_view typeWordOf(const ParameterValue& value);
std::string textOf(const ParameterValue& value);

class Parameters {
 public:
  explicit Parameters(std::vector<ParameterSpec> specs);

  // Refuses a name that was not declared, a value of another type (a whole number will do for a
  // real one) and one out of bounds. The message has no "what to do" but a suggestion.
  Result<void> set(const std::string& name, const ParameterValue& value);

  // Requires: declared, with that type.
  std::int64_t integer(const std::string& name) const;
  double real(const std::string& name) const;
  const std::string& text(const std::string& name) const;

  const std::map<std::string, ParameterValue>& values() const { return values_; }

 private:
  std::vector<ParameterSpec> specs_;
  std::map<std::string, ParameterValue> values_;
};

}  // namespace sonde::rules
