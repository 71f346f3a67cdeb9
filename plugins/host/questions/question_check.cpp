#include "plugins/host/questions/question_check.h"

#include "plugins/host/descriptor.h"

#include <fmt/format.h>

#include <cstddef>
#include <set>

namespace sonde::plugins {
namespace {

Result<void> checkSettings(const std::string& of, const sonde_question& question) {
  SONDE_TRY(checkArray("the settings of " + of, question.settings, question.setting_count));
  std::set<std::string> keys;
  for (std::size_t i = 0; i < question.setting_count; ++i) {
    const sonde_setting& setting = question.settings[i];
    SONDE_TRY(checkName(fmt::format("setting {} of {}", i + 1, of), setting.key));
    const std::string what = fmt::format("the setting '{}' of {}", setting.key, of);
    if (!keys.insert(setting.key).second)
      return faultyPlugin(what, "is there twice");
    if (setting.type < SONDE_NUMBER || setting.type > SONDE_TEXT)
      return faultyPlugin(what, fmt::format("has the type {}, which does not exist", setting.type));
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
    return faultyPlugin(of, "has no function ask");
  return {};
}

}  // namespace

Result<void> checkQuestions(const sonde_question_plugin& plugin) {
  if (plugin.question_count == 0)
    return faultyPlugin("it", "has no questions");
  SONDE_TRY(checkArray("its questions", plugin.questions, plugin.question_count));
  std::set<std::string> names;
  for (std::size_t i = 0; i < plugin.question_count; ++i) {
    SONDE_TRY(checkQuestion(plugin.questions[i], i + 1));
    if (!names.insert(plugin.questions[i].name).second)
      return faultyPlugin(fmt::format("the question '{}'", plugin.questions[i].name),
                          "is there twice");
  }
  return {};
}

}  // namespace sonde::plugins
