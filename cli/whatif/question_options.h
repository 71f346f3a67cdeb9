// The options of `sonde whatif` that ask a question. Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "base/result.h"
#include "cli/whatif/added_questions.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sonde::cli {

void declareQuestions(CLI::App& app);

// `added`: questions that --ask knows, too. The questions from left to right, those of a file in
// its place. Requires: the command line was parsed. InvalidArgument: a value has another form; the
// message names the option, or the file with line and column.
Result<std::vector<engine::whatif::Question>> askedQuestions(const CLI::App& app,
                                                             const AddedQuestions& added = {});

// The names of options that ask one question, without their dashes.
std::vector<std::string> questionNames();
bool isQuestion(const std::string& name);
// Requires: isQuestion(name). InvalidArgument: the value has another form.
Result<engine::whatif::Question> parseQuestion(const std::string& name,
                                               const std::string& value,
                                               const AddedQuestions& added = {});

}  // namespace sonde::cli
