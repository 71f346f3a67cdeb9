// Questions from shared objects, loaded into this process. Plain functions; one thread.
#pragma once

#include "analysis/engine/whatif/added_question.h"
#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::plugins {

// Whether the file exports questions, judged without running its code. False: it cannot be read,
// too.
bool hasQuestions(const std::filesystem::path& path);

// Loads the file, which stays loaded until the process ends. InvalidArgument: it is no plugin with
// questions, or one that this Sonde cannot use; the message names the file, the fault and the
// remedy. Its ABI is checked before any of its code runs.
Result<std::vector<engine::whatif::AddedQuestion>> loadQuestions(const std::filesystem::path& path);

}  // namespace sonde::plugins
