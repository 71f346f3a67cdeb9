// Questions of plugins on the command line: loads them. One thread.
#pragma once

#include "analysis/engine/whatif/added_question.h"
#include "analysis/questions/named_questions.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::cli {

using questions::AddedQuestions;

// Those of `plugins`, and of the libraries in SONDE_PLUGIN_LIBRARIES that have questions.
// InvalidArgument: Sonde cannot use a plugin, a name is there twice, or the settings of a candidate
// have another form than the question's.
Result<AddedQuestions> loadAdded(const std::vector<std::string>& plugins);

}  // namespace sonde::cli
