#include "cli/whatif/question_list.h"

#include "analysis/questions/named_questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace whatif = engine::whatif;
using nlohmann::json;

const char* wordOf(whatif::SettingType type) {
  static constexpr std::array kWords = {"number", "fraction", "time", "size", "text"};
  return kWords[static_cast<std::size_t>(type)];
}

// As a user writes them: "hit=,hit_time=1ms".
std::string addedSettings(const whatif::AddedQuestion& question) {
  std::vector<std::string> settings;
  for (const whatif::AddedSetting& each : question.settings)
    settings.push_back(each.key + "=" + each.fallback.value_or(""));
  return fmt::format("{}", fmt::join(settings, ","));
}

json addedJson(const whatif::AddedQuestion& question) {
  json settings = json::array();
  for (const whatif::AddedSetting& each : question.settings)
    settings.push_back({{"key", each.key},
                        {"type", wordOf(each.type)},
                        {"help", each.help},
                        {"fallback", each.fallback ? json(*each.fallback) : json()}});
  json candidates = json::array();
  for (const whatif::Candidate& each : question.candidates)
    candidates.push_back({{"settings", each.settings}, {"advice", each.advice}});
  return {{"name", question.name},
          {"help", question.help},
          {"from", question.origin},
          {"settings", settings},
          {"candidates", candidates}};
}

}  // namespace

Table listTable(const AddedQuestions& added) {
  Table table{{textColumn("name", "question"),
               textColumn("help", "the job then"),
               textColumn("settings", "settings"),
               textColumn("from", "from")},
              {}};
  for (const questions::NamedQuestion& each : questions::namedQuestions())
    table.rows.push_back({each.name, each.help, each.settings, "sonde"});
  for (const whatif::AddedQuestion& each : added)
    table.rows.push_back({each.name, each.help, addedSettings(each), each.origin});
  return table;
}

json listJson(const AddedQuestions& added) {
  json questions = json::array();
  for (const questions::NamedQuestion& each : questions::namedQuestions())
    questions.push_back(
        {{"name", each.name}, {"help", each.help}, {"from", "sonde"}, {"usage", each.settings}});
  for (const whatif::AddedQuestion& each : added)
    questions.push_back(addedJson(each));
  return {{"schema", 1}, {"questions", questions}};
}

}  // namespace sonde::cli
