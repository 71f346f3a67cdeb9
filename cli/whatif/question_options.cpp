#include "cli/whatif/question_options.h"

#include "analysis/engine/whatif/gradients/bucket_size.h"
#include "analysis/engine/whatif/no_stragglers.h"
#include "analysis/engine/whatif/primitives.h"
#include "analysis/engine/whatif/ranks/ranks.h"
#include "analysis/engine/whatif/selector.h"
#include "cli/text/byte_size.h"
#include "cli/text/number_checks.h"
#include "cli/text/time_span.h"
#include "cli/whatif/job_questions.h"
#include "cli/whatif/named_questions.h"
#include "cli/whatif/named_values.h"
#include "cli/whatif/question_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

namespace whatif = engine::whatif;
using whatif::Question;

Result<Question> parseScale(const std::string& text, const AddedQuestions&) {
  SONDE_TRY_ASSIGN(whatif::SelectorValue parsed, whatif::parseSelectorValue(text));
  const auto factor = numberOf(parsed.value);
  if (!factor || *factor < 0)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not a factor: give 0.5 for half the time", parsed.value)};
  return whatif::scale(std::move(parsed.selector), *factor);
}

Result<Question> parseSet(const std::string& text, const AddedQuestions&) {
  SONDE_TRY_ASSIGN(whatif::SelectorValue parsed, whatif::parseSelectorValue(text));
  SONDE_TRY_ASSIGN(const std::int64_t ns, parseTimeSpan(parsed.value));
  return whatif::set(std::move(parsed.selector), ns);
}

Result<Question> parseRemove(const std::string& text, const AddedQuestions&) {
  SONDE_TRY_ASSIGN(whatif::Selector selector, whatif::parseSelector(text));
  return whatif::remove(std::move(selector));
}

Result<Question> parseNoStragglers(const std::string&, const AddedQuestions&) {
  return whatif::noStragglers({});
}

Result<Question> parseBucketSize(const std::string& text, const AddedQuestions&) {
  SONDE_TRY_ASSIGN(const std::uint64_t bytes, parseByteSize(text));
  return whatif::bucketSize(static_cast<std::int64_t>(bytes));
}

Result<Question> parseWorkers(const std::string& text, const AddedQuestions&) {
  return makeWorkers({{"n", text}});
}

Result<Question> parseRanks(const std::string& text, const AddedQuestions&) {
  whatif::Ranks of;
  SONDE_TRY_ASSIGN(of.count, wholeNumber(text));
  return whatif::ranks(of);
}

Result<Question> parseNetwork(const std::string& text, const AddedQuestions&) {
  SONDE_TRY_ASSIGN(const NamedValues values, parseNamedValues(text));
  return makeNetwork(values);
}

struct QuestionOption {
  const char* name;
  const char* value;
  const char* help;
  Result<Question> (*parse)(const std::string& text, const AddedQuestions& added);
};

constexpr std::array kOptions = {
    QuestionOption{"--scale", "SEL=K", "the selected work takes K times as long", parseScale},
    QuestionOption{"--set", "SEL=TIME", "each selected piece of work takes TIME", parseSet},
    QuestionOption{"--remove", "SEL", "the selected work is not done", parseRemove},
    QuestionOption{"--bucket-size",
                   "SIZE",
                   "gradients are reduced in buckets of this size, such as 25MiB",
                   parseBucketSize},
    QuestionOption{"--network",
                   "bandwidth=…,latency=…",
                   "collectives use a network of this speed; bandwidth=x2 is twice the present one",
                   parseNetwork},
    QuestionOption{"--workers", "N", "each rank has N loader workers", parseWorkers},
    QuestionOption{"--ranks", "N", "the job has N data-parallel ranks", parseRanks},
    QuestionOption{
        "--no-stragglers", nullptr, "no rank is slower than its peers", parseNoStragglers},
    QuestionOption{"--ask", "NAME[,KEY=VALUE…]", "a question by its name", parseAsk},
};

constexpr const char* kFile = "--file";

void addRepeated(CLI::App& app, const char* name, const char* value, const char* const help) {
  app.add_option(name, help)
      ->type_name(value)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

const QuestionOption* find(const std::string& name) {
  for (const QuestionOption& each : kOptions)
    if (each.name == "--" + name)
      return &each;
  return nullptr;
}

}  // namespace

void declareQuestions(CLI::App& app) {
  for (const QuestionOption& each : kOptions) {
    if (each.value == nullptr)
      app.add_flag(each.name, each.help);
    else
      addRepeated(app, each.name, each.value, each.help);
  }
  addRepeated(app, kFile, "F.toml", "ask the questions of a file, from top to bottom");
}

Result<std::vector<Question>> askedQuestions(const CLI::App& app, const AddedQuestions& added) {
  std::vector<Question> questions;
  std::map<const CLI::Option*, std::size_t> used;
  const auto next = [&](const CLI::Option* option) { return option->results()[used[option]++]; };
  for (const CLI::Option* option : app.parse_order()) {
    if (option->check_name(kFile)) {
      SONDE_TRY_ASSIGN(std::vector<Question> all, readQuestionFile(next(option), added));
      std::move(all.begin(), all.end(), std::back_inserter(questions));
      continue;
    }
    for (const QuestionOption& each : kOptions) {
      if (!option->check_name(each.name))
        continue;
      const std::string value = each.value == nullptr ? std::string() : next(option);
      auto question = each.parse(value, added);
      if (!question)
        return Error{question.error().code,
                     fmt::format("{} {}: {}", each.name, value, question.error().message)};
      questions.push_back(*std::move(question));
    }
  }
  return questions;
}

std::vector<std::string> questionNames() {
  std::vector<std::string> names;
  for (const QuestionOption& each : kOptions)
    names.emplace_back(each.name + 2);
  return names;
}

bool isQuestion(const std::string& name) {
  return find(name) != nullptr;
}

Result<Question> parseQuestion(const std::string& name,
                               const std::string& value,
                               const AddedQuestions& added) {
  return find(name)->parse(value, added);
}

}  // namespace sonde::cli
