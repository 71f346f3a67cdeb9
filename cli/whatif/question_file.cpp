#include "cli/whatif/question_file.h"

#include "analysis/questions/named_questions.h"
#include "base/suggest.h"
#include "cli/whatif/question_options.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace sonde::cli {
namespace {

using engine::whatif::Question;

class QuestionReader {
 public:
  QuestionReader(const std::string& path, const AddedQuestions& added)
      : path_(path), added_(added) {}

  Result<std::vector<Question>> read(const toml::table& file) const {
    std::vector<Question> questions;
    for (const auto& [key, node] : file) {
      const toml::array* all = node.as_array();
      if (key.str() != "question" || all == nullptr)
        return at(key.source(), fmt::format("'{}' is no question: write [[question]]", key.str()));
      for (const toml::node& each : *all) {
        const toml::table* table = each.as_table();
        if (table == nullptr)
          return at(each.source(), "a question is a table: write [[question]]");
        SONDE_TRY_ASSIGN(Question question, questionOf(*table));
        questions.push_back(std::move(question));
      }
    }
    if (questions.empty())
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{}: no question: write [[question]] and, on the next line, "
                               "scale = \"kind:copy=0.5\" or another option of 'sonde whatif'",
                               path_)};
    return questions;
  }

 private:
  Error at(const toml::source_region& region, std::string_view message) const {
    return {ErrorCode::InvalidArgument,
            fmt::format("{}:{}:{}: {}", path_, region.begin.line, region.begin.column, message)};
  }

  // As on the command line; nullopt: a list, a table or a date.
  static std::optional<std::string> textOf(const toml::node& node) {
    if (const auto* text = node.as_string())
      return text->get();
    if (const auto* integer = node.as_integer())
      return std::to_string(integer->get());
    if (const auto* real = node.as_floating_point())
      return fmt::format("{}", real->get());
    if (const auto* truth = node.as_boolean(); truth != nullptr && truth->get())
      return std::string();
    return std::nullopt;
  }

  Result<std::string> valueOf(const toml::key& key, const toml::node& node) const {
    const auto text = textOf(node);
    if (!text)
      return at(node.source(),
                fmt::format("'{}' has no value that the option has: write it as on the command "
                            "line, in quotes; true for an option without a value",
                            key.str()));
    return *text;
  }

  Result<Question> questionOf(const toml::table& table) const {
    if (table.contains("ask"))
      return named(table);
    const toml::key* option = nullptr;
    for (const auto& [key, node] : table) {
      if (!isQuestion(std::string(key.str())))
        return at(key.source(), unknown(key.str()));
      if (option != nullptr)
        return at(key.source(),
                  fmt::format("'{}' and '{}' are two questions, whose order matters: write "
                              "[[question]] before each",
                              option->str(),
                              key.str()));
      option = &key;
    }
    if (option == nullptr)
      return at(table.source(), "the question is empty: name an option of 'sonde whatif'");
    const toml::node& node = *table.get(option->str());
    SONDE_TRY_ASSIGN(const std::string value, valueOf(*option, node));
    auto question = parseQuestion(std::string(option->str()), value, added_);
    if (!question)
      return at(node.source(), question.error().message);
    return question;
  }

  static std::string unknown(std::string_view name) {
    const std::string nearest = nearestWord(name, questionNames());
    return fmt::format("there is no question '{}'{}",
                       name,
                       nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest));
  }

  Result<Question> named(const toml::table& table) const {
    questions::Asked asked;
    for (const auto& [key, node] : table) {
      SONDE_TRY_ASSIGN(std::string value, valueOf(key, node));
      if (key.str() != "ask") {
        asked.values.emplace(key.str(), std::move(value));
        continue;
      }
      auto parsed = questions::parseAsked(value);
      if (!parsed)
        return at(node.source(), parsed.error().message);
      asked.name = parsed->name;
      for (auto& [setting, of] : parsed->values)
        if (!asked.values.emplace(setting, of).second || table.contains(setting))
          return at(node.source(), fmt::format("'{}' is given twice", setting));
    }
    auto question = questions::makeAsked(asked, added_);
    if (!question)
      return at(table.source(), question.error().message);
    return question;
  }

  const std::string& path_;
  const AddedQuestions& added_;
};

}  // namespace

Result<std::vector<Question>> readQuestionFile(const std::string& path,
                                               const AddedQuestions& added) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return Error{ErrorCode::InvalidArgument, fmt::format("cannot read {}, or it is empty", path)};
  try {
    return QuestionReader(path, added).read(toml::parse(text.str(), path));
  } catch (const toml::parse_error& error) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}:{}:{}: {}",
                             path,
                             error.source().begin.line,
                             error.source().begin.column,
                             error.description())};
  }
}

}  // namespace sonde::cli
