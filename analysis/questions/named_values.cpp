#include "analysis/questions/named_values.h"

#include "base/text/number.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

namespace sonde::questions {
namespace {

// Divides at commas outside quotes; removes the quotes.
Result<std::vector<std::string>> partsOf(std::string_view text) {
  std::vector<std::string> parts(1);
  bool isQuoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char each = text[i];
    if (each == '"')
      isQuoted = !isQuoted;
    else if (isQuoted && each == '\\' && i + 1 < text.size())
      parts.back() += text[++i];
    else if (each == ',' && !isQuoted)
      parts.emplace_back();
    else
      parts.back() += each;
  }
  if (isQuoted)
    return Error{ErrorCode::InvalidArgument, fmt::format("the quote in '{}' is not closed", text)};
  return parts;
}

Result<NamedValues> valuesOf(const std::vector<std::string>& parts, std::size_t first) {
  NamedValues values;
  for (std::size_t i = first; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos || equals == 0)
      return Error{ErrorCode::InvalidArgument, fmt::format("'{}' is not KEY=VALUE", parts[i])};
    const bool isNew =
        values.emplace(parts[i].substr(0, equals), parts[i].substr(equals + 1)).second;
    if (!isNew)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' is given twice", parts[i].substr(0, equals))};
  }
  return values;
}

}  // namespace

Result<NamedValues> parseNamedValues(std::string_view text) {
  SONDE_TRY_ASSIGN(const std::vector<std::string> parts, partsOf(text));
  return valuesOf(parts, 0);
}

Result<Asked> parseAsked(std::string_view text) {
  SONDE_TRY_ASSIGN(const std::vector<std::string> parts, partsOf(text));
  SONDE_TRY_ASSIGN(NamedValues values, valuesOf(parts, 1));
  return Asked{parts.front(), std::move(values)};
}

Error unknownKey(const std::string& question, const std::string& key, const char* keys) {
  return {ErrorCode::InvalidArgument,
          fmt::format("the question '{}' has no setting '{}': it has {}", question, key, keys)};
}

Result<double> settingNumber(const std::string& key, std::string value) {
  const bool isPercent = value.ends_with('%');
  if (isPercent)
    value.pop_back();
  const auto number = numberOf(value);
  if (!number)
    return Error{ErrorCode::InvalidArgument, fmt::format("{}='{}' is not a number", key, value)};
  return isPercent ? *number / 100 : *number;
}

Error missingKey(const std::string& question, const std::string& key, const std::string& example) {
  return {
      ErrorCode::InvalidArgument,
      fmt::format("the question '{}' needs {}=…, as in {},{}", question, key, question, example)};
}

Result<std::int64_t> wholeNumber(const std::string& text) {
  constexpr double kMost = 1e9;
  const auto number = numberOf(text);
  if (!number || *number < 1 || *number > kMost || std::floor(*number) != *number)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not a whole number of at least 1", text)};
  return static_cast<std::int64_t>(*number);
}

}  // namespace sonde::questions
