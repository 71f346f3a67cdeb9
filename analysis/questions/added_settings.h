// The settings of plugins' questions. Plain functions; any thread.
#pragma once

#include "analysis/engine/whatif/added_question.h"
#include "analysis/engine/whatif/question.h"
#include "analysis/questions/named_values.h"
#include "base/result.h"

namespace sonde::questions {

// InvalidArgument: a setting is missing, unknown, or has another form.
Result<engine::whatif::Question> makeAdded(const engine::whatif::AddedQuestion& question,
                                           const NamedValues& values);

// The question as a candidate asks it. Errors as above.
Result<engine::whatif::Question> makeCandidate(const engine::whatif::AddedQuestion& question,
                                               const engine::whatif::Candidate& candidate);

}  // namespace sonde::questions
