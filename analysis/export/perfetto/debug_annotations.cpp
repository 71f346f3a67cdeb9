#include "analysis/export/perfetto/debug_annotations.h"

#include <nlohmann/json.hpp>

namespace sonde::exports {
namespace {

using nlohmann::json;

// Requires: `value` was parsed with a bound on its depth.
void fill(perfetto::DebugAnnotation& annotation, const json& value) {
  switch (value.type()) {
    case json::value_t::boolean:
      annotation.set_bool_value(value.get<bool>());
      break;
    case json::value_t::number_unsigned:
    case json::value_t::number_integer:
      if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)
        annotation.set_uint_value(value.get<std::uint64_t>());
      else
        annotation.set_int_value(value.get<std::int64_t>());
      break;
    case json::value_t::number_float:
      annotation.set_double_value(value.get<double>());
      break;
    case json::value_t::string:
      annotation.set_string_value(value.get_ref<const std::string&>());
      break;
    case json::value_t::array:
      for (const json& item : value)
        fill(*annotation.add_array_values(), item);
      break;
    case json::value_t::object:
      for (const auto& [key, item] : value.items()) {
        perfetto::DebugAnnotation& entry = *annotation.add_dict_entries();
        entry.set_name(key);
        fill(entry, item);
      }
      break;
    default:
      annotation.set_string_value("null");
  }
}

constexpr int kMaxDepth = 64;

// Drops levels below kMaxDepth: a file's arguments may be nested a million deep.
json parse(std::string_view text) {
  return json::parse(
      text, [](int depth, json::parse_event_t, json&) { return depth <= kMaxDepth; }, false);
}

}  // namespace

void addAnnotations(std::string_view text, perfetto::TrackEvent& event) {
  const json args = parse(text);
  if (!args.is_object()) {
    perfetto::DebugAnnotation& annotation = *event.add_debug_annotations();
    annotation.set_name("args");
    annotation.set_string_value(std::string(text));
    return;
  }
  for (const auto& [key, value] : args.items()) {
    perfetto::DebugAnnotation& annotation = *event.add_debug_annotations();
    annotation.set_name(key);
    fill(annotation, value);
  }
}

}  // namespace sonde::exports
