// Reads questions from a TOML file (`sonde whatif --file`). Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "base/result.h"
#include "cli/whatif/added_questions.h"

#include <string>
#include <vector>

namespace sonde::cli {

// The tables [[question]] from top to bottom. Each has the name of an option without its dashes and
// the option's value; one with `ask` may have settings as keys of their own. InvalidArgument:
// something else, with file, line and column; or the file cannot be read. `added`: questions that
// `ask` knows, too.
Result<std::vector<engine::whatif::Question>> readQuestionFile(const std::string& path,
                                                               const AddedQuestions& added);

}  // namespace sonde::cli
