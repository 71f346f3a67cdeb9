// The options of `sonde whatif` that ask a question. Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sonde::cli {

void declareQuestions(CLI::App& app);

// The questions from left to right. Requires: the command line was parsed. InvalidArgument: a value
// has another form; the message names the option.
Result<std::vector<engine::whatif::Question>> askedQuestions(const CLI::App& app);

}  // namespace sonde::cli
