#include "rules/baseline/json_place.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::rules {
namespace {

using nlohmann::json;

constexpr std::size_t kShown = 40;  // characters of a wrong value

std::string shown(const json& value) {
  if (value.is_object() || value.is_array())
    return fmt::format(
        "{} with {} elements", value.is_object() ? "an object" : "a list", value.size());
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kShown)
    text = text.substr(0, kShown) + "…";
  return text;
}

}  // namespace

JsonPlace::JsonPlace(const JsonPlace& parent, const json& value, std::string_view step)
    : file_(parent.file_),
      action_(parent.action_),
      value_(&value),
      path_(parent.path_ + std::string(step)) {}

Error JsonPlace::refuse(std::string_view expected) const {
  return {ErrorCode::Corrupt,
          fmt::format("{}: {} must be {}, not {}: write the file anew with `sonde baseline {}`",
                      *file_,
                      path_,
                      expected,
                      shown(*value_),
                      action_)};
}

Result<JsonPlace> JsonPlace::member(const std::string& key) const {
  if (!value_->is_object())
    return refuse("an object");
  const auto found = value_->find(key);
  if (found == value_->end())
    return refuse(fmt::format("an object with '{}'", key));
  return JsonPlace(*this, *found, "." + key);
}

JsonPlace JsonPlace::element(std::size_t index) const {
  return {*this, (*value_)[index], fmt::format("[{}]", index)};
}

Result<void> JsonPlace::onlyHas(std::initializer_list<std::string_view> keys) const {
  if (!value_->is_object())
    return refuse("an object");
  for (const auto& [key, value] : value_->items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return JsonPlace(*this, value, "." + key)
          .refuse(fmt::format("left out (known are {})", fmt::join(keys, ", ")));
  return {};
}

Result<std::size_t> JsonPlace::size(std::size_t least, std::size_t most) const {
  if (!value_->is_array() || value_->size() < least || value_->size() > most)
    return refuse(fmt::format("a list of {} to {} elements", least, most));
  return value_->size();
}

Result<std::int64_t> JsonPlace::whole(std::int64_t least, std::int64_t most) const {
  const auto expected = [&] { return fmt::format("a whole number from {} to {}", least, most); };
  // An unsigned number beyond int64_t would wrap.
  if (!value_->is_number_integer() ||
      (value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX))
    return refuse(expected());
  const auto number = value_->get<std::int64_t>();
  if (number < least || number > most)
    return refuse(expected());
  return number;
}

Result<double> JsonPlace::number(double least, double most) const {
  if (value_->is_number())
    if (const auto number = value_->get<double>(); number >= least && number <= most)
      return number;
  return refuse(fmt::format("a number from {:g} to {:g}", least, most));
}

Result<std::string> JsonPlace::text(std::size_t most) const {
  if (!value_->is_string() || value_->get_ref<const std::string&>().size() > most)
    return refuse(fmt::format("a text of at most {} bytes", most));
  return value_->get<std::string>();
}

Result<bool> JsonPlace::flag() const {
  if (!value_->is_boolean())
    return refuse("true or false");
  return value_->get<bool>();
}

}  // namespace sonde::rules
