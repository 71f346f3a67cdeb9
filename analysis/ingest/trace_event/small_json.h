// Reads JSON texts with few members without building a tree: a damaged or hostile text takes memory
// in proportion to its size. Free functions; any thread, each text by one.
#pragma once

#include <simdjson.h>

#include <string_view>

namespace sonde::ingest {

namespace od = simdjson::ondemand;

// A token without trailing white space.
inline std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

// A padded copy of a text: the parser reads some bytes past the end.
struct SmallJson {
  explicit SmallJson(std::string_view json) : text(json) {
    isValid = parser.iterate(text).get(document) == simdjson::SUCCESS;
  }
  simdjson::padded_string text;
  od::parser parser;
  od::document document;
  bool isValid = false;
};

// Calls `take` with the members of an object, up to the first invalid JSON. Ignores other types.
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

// The same for the elements of an array.
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
