// JSON texts of a few members, read without a tree of their values: what a damaged or hostile one
// takes stays in proportion to its size. Free functions; any thread, each text by one.
#pragma once

#include <simdjson.h>

#include <string_view>

namespace sonde::ingest {

namespace od = simdjson::ondemand;

// Without the white space behind it, as a token has it.
inline std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

// A copy of a text, which the parser reads some bytes past the end of.
struct SmallJson {
  explicit SmallJson(std::string_view json) : text(json) {
    isValid = parser.iterate(text).get(document) == simdjson::SUCCESS;
  }
  simdjson::padded_string text;
  od::parser parser;
  od::document document;
  bool isValid = false;
};

// Gives `take` the members of an object, up to what is no JSON; nothing of anything else.
template <typename Source, typename Take>
void eachMember(Source& source, const Take& take) {
  od::object object;
  if (source.get_object().get(object) != simdjson::SUCCESS)
    return;
  for (auto item : object) {
    od::field field;
    std::string_view key;
    if (std::move(item).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS)
      return;
    take(key, field.value());
  }
}

// The same with the elements of an array.
template <typename Source, typename Take>
void eachElement(Source& source, const Take& take) {
  od::array list;
  if (source.get_array().get(list) != simdjson::SUCCESS)
    return;
  for (auto item : list) {
    od::value value;
    if (item.get(value) != simdjson::SUCCESS)
      return;
    take(value);
  }
}

}  // namespace sonde::ingest
