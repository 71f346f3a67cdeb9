#include "cli/whatif/question_options.h"

#include "analysis/questions/question_words.h"
#include "cli/whatif/question_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

using engine::whatif::Question;
using questions::QuestionWord;

constexpr const char* kFile = "--file";

void addRepeated(CLI::App& app,
                 const std::string& name,
                 const char* value,
                 const char* const help) {
  app.add_option(name, help)
      ->type_name(value)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::string optionOf(const QuestionWord& word) {
  return fmt::format("--{}", word.name);
}

}  // namespace

void declareQuestions(CLI::App& app) {
  for (const QuestionWord& each : questions::questionWords()) {
    if (each.value == nullptr)
      app.add_flag(optionOf(each), each.help);
    else
      addRepeated(app, optionOf(each), each.value, each.help);
  }
  addRepeated(app, kFile, "F.toml", "ask the questions of a file, from top to bottom");
}

Result<std::vector<Question>> askedQuestions(const CLI::App& app, const AddedQuestions& added) {
  std::vector<Question> asked;
  std::map<const CLI::Option*, std::size_t> used;
  const auto next = [&](const CLI::Option* option) { return option->results()[used[option]++]; };
  for (const CLI::Option* option : app.parse_order()) {
    if (option->check_name(kFile)) {
      SONDE_TRY_ASSIGN(std::vector<Question> all, readQuestionFile(next(option), added));
      std::move(all.begin(), all.end(), std::back_inserter(asked));
      continue;
    }
    for (const QuestionWord& each : questions::questionWords()) {
      if (!option->check_name(optionOf(each)))
        continue;
      const std::string value = each.value == nullptr ? std::string() : next(option);
      auto question = each.parse(value, added);
      if (!question)
        return Error{question.error().code,
                     fmt::format("{} {}: {}", optionOf(each), value, question.error().message)};
      asked.push_back(*std::move(question));
    }
  }
  return asked;
}

std::vector<std::string> questionNames() {
  std::vector<std::string> names;
  for (const QuestionWord& each : questions::questionWords())
    names.emplace_back(each.name);
  return names;
}

bool isQuestion(const std::string& name) {
  return questions::findWord(name) != nullptr;
}

Result<Question> parseQuestion(const std::string& name,
                               const std::string& value,
                               const AddedQuestions& added) {
  return questions::findWord(name)->parse(value, added);
}

}  // namespace sonde::cli
