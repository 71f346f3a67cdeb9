// Pickles a JSON value, as Python would a dict of plain data, with the simplest opcodes. For tests.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace sonde::test {

inline std::string pickledPart(const nlohmann::json& value) {
  if (value.is_null())
    return "N";
  if (value.is_boolean())
    return value.get<bool>() ? "\x88" : "\x89";
  if (value.is_number())
    return (value.is_number_integer() ? "I" : "F") + value.dump() + "\n";
  std::string text;
  if (value.is_string()) {
    text = value.get<std::string>();
    std::string length(4, '\0');
    for (unsigned byte = 0; byte < 4; ++byte)
      length[byte] = static_cast<char>(text.size() >> (8 * byte));
    return "X" + length + text;
  }
  for (const auto& [key, part] : value.items())
    text += (value.is_object() ? pickledPart(key) : "") + pickledPart(part);
  return "(" + text + (value.is_object() ? "d" : "l");
}

inline std::string pickled(const nlohmann::json& value) {
  return "\x80\x02" + pickledPart(value) + ".";
}

}  // namespace sonde::test
