// The words that ask a question about a job, each with a value: `scale`, `bucket-size`, `ask`. They
// are options of `sonde whatif`, and keys of its files. Plain values; any thread.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "analysis/questions/named_questions.h"
#include "base/result.h"

#include <span>
#include <string>
#include <string_view>

namespace sonde::questions {

struct QuestionWord {
  std::string_view name;
  const char* value;  // its form, for people; nullptr: it has none
  const char* help;
  // InvalidArgument: the text has another form. `added`: questions that `ask` knows, too.
  Result<engine::whatif::Question> (*parse)(const std::string& text, const AddedQuestions& added);
};

std::span<const QuestionWord> questionWords();
// nullptr: there is no such word.
const QuestionWord* findWord(std::string_view name);

}  // namespace sonde::questions
