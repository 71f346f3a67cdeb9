// The settings of a rule: declared once with type, default, bounds and help, then read by name.
// `sonde rules`, the parser of sonde.toml and the documentation all use the declaration. Plain
// values.
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
  double minimum = -std::numeric_limits<double>::infinity();  // for numbers, inclusive
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> words = {};  // a text is a list of these, with commas; empty: any text
};

std::string_view typeWordOf(const ParameterValue& value);
std::string textOf(const ParameterValue& value);

// The words of a text with commas, without spaces around them.
std::vector<std::string> wordsOf(std::string_view list);

class Parameters {
 public:
  explicit Parameters(std::vector<ParameterSpec> specs);

  // Refuses an undeclared name, a value of another type (a whole number is accepted as a real), and
  // one out of bounds. The message contains a suggestion, but no other remedy.
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
