// Questions of plugins on the command line: loads them, and parses their settings. One thread.
#pragma once

#include "analysis/engine/whatif/added_question.h"
#include "base/result.h"
#include "cli/whatif/named_questions.h"

#include <string>
#include <vector>

namespace sonde::cli {

// Those of `plugins`, and of the libraries in SONDE_PLUGIN_LIBRARIES that have questions.
// InvalidArgument: Sonde cannot use a plugin, a name is there twice, or the settings of a candidate
// have another form than the question's.
Result<AddedQuestions> loadAdded(const std::vector<std::string>& plugins);

// InvalidArgument: a setting is missing, unknown, or has another form.
Result<engine::whatif::Question> makeAdded(const engine::whatif::AddedQuestion& question,
                                           const NamedValues& values);

// The question as a candidate asks it. Errors as above.
Result<engine::whatif::Question> makeCandidate(const engine::whatif::AddedQuestion& question,
                                               const engine::whatif::Candidate& candidate);

}  // namespace sonde::cli
