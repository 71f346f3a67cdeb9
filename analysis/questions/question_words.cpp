#include "analysis/questions/question_words.h"

#include "analysis/engine/whatif/gradients/bucket_size.h"
#include "analysis/engine/whatif/no_stragglers.h"
#include "analysis/engine/whatif/primitives.h"
#include "analysis/engine/whatif/ranks/ranks.h"
#include "analysis/engine/whatif/selector.h"
#include "analysis/questions/job_questions.h"
#include "analysis/questions/named_values.h"
#include "base/text/byte_size.h"
#include "base/text/number.h"
#include "base/text/time_span.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace sonde::questions {
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

constexpr QuestionWord kWords[] = {
    {"scale", "SEL=K", "the selected work takes K times as long", parseScale},
    {"set", "SEL=TIME", "each selected piece of work takes TIME", parseSet},
    {"remove", "SEL", "the selected work is not done", parseRemove},
    {"bucket-size",
     "SIZE",
     "gradients are reduced in buckets of this size, such as 25MiB",
     parseBucketSize},
    {"network",
     "bandwidth=…,latency=…",
     "collectives use a network of this speed; bandwidth=x2 is twice the present one",
     parseNetwork},
    {"workers", "N", "each rank has N loader workers", parseWorkers},
    {"ranks", "N", "the job has N data-parallel ranks", parseRanks},
    {"no-stragglers", nullptr, "no rank is slower than its peers", parseNoStragglers},
    {"ask", "NAME[,KEY=VALUE…]", "a question by its name", parseAsk},
};

}  // namespace

std::span<const QuestionWord> questionWords() {
  return kWords;
}

const QuestionWord* findWord(std::string_view name) {
  for (const QuestionWord& each : kWords)
    if (each.name == name)
      return &each;
  return nullptr;
}

}  // namespace sonde::questions
