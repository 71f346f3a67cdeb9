#include "analysis/questions/added_settings.h"

#include "base/text/byte_size.h"
#include "base/text/time_span.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde::questions {
namespace {

namespace whatif = engine::whatif;
using whatif::AddedQuestion;
using whatif::AddedSetting;
using whatif::SettingType;
using whatif::SettingValue;

Result<double> numberOfSetting(const AddedSetting& setting, const std::string& text) {
  switch (setting.type) {
    case SettingType::Number:
      return settingNumber(setting.key, text);
    case SettingType::Fraction: {
      SONDE_TRY_ASSIGN(const double number, settingNumber(setting.key, text));
      if (number < 0 || number > 1)
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("{}='{}' is not between 0 and 1", setting.key, text)};
      return number;
    }
    case SettingType::Time: {
      SONDE_TRY_ASSIGN(const std::int64_t ns, parseTimeSpan(text));
      return static_cast<double>(ns);
    }
    case SettingType::Size: {
      SONDE_TRY_ASSIGN(const std::uint64_t bytes, parseByteSize(text));
      return static_cast<double>(bytes);
    }
    case SettingType::Text:
      break;
  }
  return 0.0;
}

std::string exampleOf(SettingType type) {
  static const std::map<SettingType, const char*> kExamples = {{SettingType::Number, "2"},
                                                               {SettingType::Fraction, "50%"},
                                                               {SettingType::Time, "1ms"},
                                                               {SettingType::Size, "25MiB"},
                                                               {SettingType::Text, "TEXT"}};
  return kExamples.at(type);
}

std::string keysOf(const AddedQuestion& question) {
  std::string keys;
  for (const AddedSetting& each : question.settings)
    keys += (keys.empty() ? "" : ", ") + each.key;
  return keys.empty() ? "none" : keys;
}

Result<std::vector<SettingValue>> valuesOfSettings(const AddedQuestion& question,
                                                   const NamedValues& values) {
  std::vector<SettingValue> parsed;
  for (const auto& [key, value] : values)
    if (std::none_of(question.settings.begin(),
                     question.settings.end(),
                     [key = key](const AddedSetting& each) { return each.key == key; }))
      return unknownKey(question.name, key, keysOf(question).c_str());
  for (const AddedSetting& setting : question.settings) {
    const auto given = values.find(setting.key);
    const bool isGiven = given != values.end();
    if (!isGiven && !setting.fallback)
      return missingKey(
          question.name, setting.key, fmt::format("{}={}", setting.key, exampleOf(setting.type)));
    SettingValue value{isGiven ? given->second : *setting.fallback, 0, isGiven};
    SONDE_TRY_ASSIGN(value.number, numberOfSetting(setting, value.text));
    parsed.push_back(std::move(value));
  }
  return parsed;
}

}  // namespace

Result<whatif::Question> makeAdded(const AddedQuestion& question, const NamedValues& values) {
  SONDE_TRY_ASSIGN(std::vector<SettingValue> parsed, valuesOfSettings(question, values));
  return question.make(std::move(parsed));
}

Result<whatif::Question> makeCandidate(const AddedQuestion& question,
                                       const whatif::Candidate& candidate) {
  if (candidate.settings.empty())
    return makeAdded(question, {});
  SONDE_TRY_ASSIGN(const NamedValues values, parseNamedValues(candidate.settings));
  return makeAdded(question, values);
}

}  // namespace sonde::questions
