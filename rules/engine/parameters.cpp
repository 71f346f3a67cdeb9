#include "rules/engine/parameters.h"

#include "base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace sonde::rules {
namespace {

std::optional<ParameterValue> converted(const ParameterValue& value, const ParameterValue& like) {
  if (value.index() == like.index())
    return value;
  if (const auto* integer = std::get_if<std::int64_t>(&value);
      integer != nullptr && std::holds_alternative<double>(like))
    return static_cast<double>(*integer);
  return std::nullopt;
}

std::optional<double> numberOf(const ParameterValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value))
    return *real;
  return std::nullopt;
}

Error refused(std::string message) {
  return {ErrorCode::InvalidArgument, std::move(message)};
}

Result<void> checkWords(const ParameterSpec& spec, const ParameterValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr || spec.words.empty())
    return {};
  for (const std::string& word : wordsOf(*text))
    if (std::find(spec.words.begin(), spec.words.end(), word) == spec.words.end())
      return refused(fmt::format("parameter '{}' has the word '{}'; it may have {}",
                                 spec.name,
                                 word,
                                 fmt::join(spec.words, ", ")));
  return {};
}

}  // namespace

std::string_view typeWordOf(const ParameterValue& value) {
  static constexpr std::string_view kWords[] = {"integer", "number", "text"};
  return kWords[value.index()];
}

std::string textOf(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value))
    return fmt::format("\"{}\"", *text);
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return fmt::format("{}", *integer);
  return fmt::format("{:g}", std::get<double>(value));
}

std::vector<std::string> wordsOf(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (word.starts_with(' '))
      word.remove_prefix(1);
    while (word.ends_with(' '))
      word.remove_suffix(1);
    if (!word.empty())
      words.emplace_back(word);
  }
  return words;
}

Parameters::Parameters(std::vector<ParameterSpec> specs) : specs_(std::move(specs)) {
  for (const ParameterSpec& spec : specs_)
    values_[spec.name] = spec.fallback;
}

Result<void> Parameters::set(const std::string& name, const ParameterValue& value) {
  const auto spec = std::find_if(
      specs_.begin(), specs_.end(), [&](const auto& each) { return each.name == name; });
  if (spec == specs_.end()) {
    std::vector<std::string> names;
    for (const ParameterSpec& each : specs_)
      names.push_back(each.name);
    const std::string nearest = nearestWord(name, names);
    return refused(
        nearest.empty()
            ? fmt::format("it has no parameter '{}'; it has {}", name, fmt::join(names, ", "))
            : fmt::format("it has no parameter '{}'; did you mean '{}'?", name, nearest));
  }
  const auto fitting = converted(value, spec->fallback);
  if (!fitting)
    return refused(fmt::format("parameter '{}' must be of type {}, not {}",
                               name,
                               typeWordOf(spec->fallback),
                               typeWordOf(value)));
  const auto number = numberOf(*fitting);
  if (number && !(*number >= spec->minimum && *number <= spec->maximum))
    return refused(fmt::format("parameter '{}' is {}, but must lie from {:g} to {:g}",
                               name,
                               textOf(value),
                               spec->minimum,
                               spec->maximum));
  SONDE_TRY(checkWords(*spec, *fitting));
  values_[name] = *fitting;
  return {};
}

std::int64_t Parameters::integer(const std::string& name) const {
  return std::get<std::int64_t>(values_.at(name));
}

double Parameters::real(const std::string& name) const {
  return std::get<double>(values_.at(name));
}

const std::string& Parameters::text(const std::string& name) const {
  return std::get<std::string>(values_.at(name));
}

}  // namespace sonde::rules
