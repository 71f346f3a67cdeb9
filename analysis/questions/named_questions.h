// The questions of `sonde whatif --ask`, by name. Plain functions.
#pragma once

#include "analysis/engine/whatif/added_question.h"
#include "analysis/engine/whatif/question.h"
#include "analysis/questions/named_question.h"
#include "analysis/questions/named_values.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::questions {

using AddedQuestions = std::vector<engine::whatif::AddedQuestion>;

// Sonde's own, by name.
std::vector<NamedQuestion> namedQuestions();

// `added`: those that may be asked, too. InvalidArgument: there is no such question, or a setting
// has another form.
Result<engine::whatif::Question> parseAsk(const std::string& text,
                                          const AddedQuestions& added = {});
Result<engine::whatif::Question> makeAsked(const Asked& asked, const AddedQuestions& added = {});

}  // namespace sonde::questions
