#include "analysis/questions/named_questions.h"

#include "analysis/questions/added_settings.h"
#include "analysis/questions/compute_questions.h"
#include "analysis/questions/device_questions.h"
#include "analysis/questions/gradient_questions.h"
#include "analysis/questions/job_questions.h"
#include "analysis/questions/network_questions.h"
#include "analysis/questions/sharing_questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace sonde::questions {

using engine::whatif::AddedQuestion;
using engine::whatif::Question;

std::vector<NamedQuestion> namedQuestions() {
  std::vector<NamedQuestion> all;
  for (const auto& questions : {computeQuestions(),
                                deviceQuestions(),
                                gradientQuestions(),
                                jobQuestions(),
                                networkQuestions(),
                                sharingQuestions()})
    all.insert(all.end(), questions.begin(), questions.end());
  std::sort(all.begin(), all.end(), [](const NamedQuestion& a, const NamedQuestion& b) {
    return std::string_view(a.name) < b.name;
  });
  return all;
}

Result<Question> parseAsk(const std::string& text, const AddedQuestions& added) {
  SONDE_TRY_ASSIGN(const Asked asked, parseAsked(text));
  return makeAsked(asked, added);
}

Result<Question> makeAsked(const Asked& asked, const AddedQuestions& added) {
  std::vector<std::string> names;
  for (const NamedQuestion& each : namedQuestions()) {
    if (asked.name == each.name)
      return each.make(asked.values);
    names.emplace_back(each.name);
  }
  for (const AddedQuestion& each : added) {
    if (asked.name == each.name)
      return makeAdded(each, asked.values);
    names.push_back(each.name);
  }
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("there is no question '{}': use {}", asked.name, fmt::join(names, ", "))};
}

}  // namespace sonde::questions
