#include "plugins/host/questions/question_check.h"

#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

namespace sonde::plugins {
namespace {

constexpr std::size_t kMostItems = 64;  // questions, settings of one, candidates of one
constexpr std::size_t kMostName = 31;
constexpr std::size_t kMostLine = 200;

Error faulty(const std::string& what, const std::string& why) {
  return {ErrorCode::InvalidArgument, fmt::format("{} {}", what, why)};
}

bool isNameText(const char* text) {
  const std::string_view name = text == nullptr ? "" : text;
  const auto isLetter = [](char each) { return each >= 'a' && each <= 'z'; };
  return !name.empty() && name.size() <= kMostName && isLetter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char each) {
           return isLetter(each) || (each >= '0' && each <= '9') || each == '-' || each == '_';
         });
}

Result<void> checkName(const std::string& what, const char* text) {
  if (!isNameText(text))
    return faulty(what,
                  fmt::format("has an invalid name: use a to z, 0 to 9, - and _, a letter first, "
                              "and at most {} of them",
                              kMostName));
  return {};
}

// `most`: in bytes.
Result<void> checkLine(const std::string& what, const char* text) {
  const std::string_view line = text == nullptr ? "" : text;
  const bool isLine = isText(line) && line.size() <= kMostLine &&
                      std::none_of(line.begin(), line.end(), [](char each) {
                        return static_cast<unsigned char>(each) < ' ';
                      });
  if (text == nullptr || !isLine)
    return faulty(what, fmt::format("is not one line of UTF-8 with at most {} bytes", kMostLine));
  return {};
}

Result<void> checkArray(const std::string& what, const void* items, std::size_t count) {
  if (count > kMostItems || (count > 0 && items == nullptr))
    return faulty(what, fmt::format("are missing, or more than {}", kMostItems));
  return {};
}

Result<void> checkSettings(const std::string& of, const sonde_question& question) {
  SONDE_TRY(checkArray("the settings of " + of, question.settings, question.setting_count));
  std::set<std::string> keys;
  for (std::size_t i = 0; i < question.setting_count; ++i) {
    const sonde_setting& setting = question.settings[i];
    SONDE_TRY(checkName(fmt::format("setting {} of {}", i + 1, of), setting.key));
    const std::string what = fmt::format("the setting '{}' of {}", setting.key, of);
    if (!keys.insert(setting.key).second)
      return faulty(what, "is there twice");
    if (setting.type < SONDE_NUMBER || setting.type > SONDE_TEXT)
      return faulty(what, fmt::format("has the type {}, which does not exist", setting.type));
    SONDE_TRY(checkLine("the help of " + what, setting.help));
    if (setting.fallback != nullptr)
      SONDE_TRY(checkLine("the fallback of " + what, setting.fallback));
  }
  return {};
}

Result<void> checkQuestion(const sonde_question& question, std::size_t number) {
  SONDE_TRY(checkName(fmt::format("question {}", number), question.name));
  const std::string of = fmt::format("the question '{}'", question.name);
  SONDE_TRY(checkLine("the help of " + of, question.help));
  SONDE_TRY(checkSettings(of, question));
  SONDE_TRY(checkArray("the candidates of " + of, question.candidates, question.candidate_count));
  for (std::size_t i = 0; i < question.candidate_count; ++i) {
    const std::string what = fmt::format("candidate {} of {}", i + 1, of);
    SONDE_TRY(checkLine("the settings of " + what, question.candidates[i].settings));
    SONDE_TRY(checkLine("the advice of " + what, question.candidates[i].advice));
  }
  if (question.ask == nullptr)
    return faulty(of, "has no function ask");
  return {};
}

}  // namespace

Result<void> checkQuestions(const sonde_question_plugin& plugin) {
  if (plugin.question_count == 0)
    return faulty("it", "has no questions");
  SONDE_TRY(checkArray("its questions", plugin.questions, plugin.question_count));
  std::set<std::string> names;
  for (std::size_t i = 0; i < plugin.question_count; ++i) {
    SONDE_TRY(checkQuestion(plugin.questions[i], i + 1));
    if (!names.insert(plugin.questions[i].name).second)
      return faulty(fmt::format("the question '{}'", plugin.questions[i].name), "is there twice");
  }
  return {};
}

}  // namespace sonde::plugins
