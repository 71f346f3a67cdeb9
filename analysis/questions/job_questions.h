// The questions of `--ask` about the ranks of a job and their network. Plain functions; any thread.
#pragma once

#include "analysis/questions/named_question.h"

#include <span>

namespace sonde::questions {

std::span<const NamedQuestion> jobQuestions();

// The same as `--network` with these settings.
Result<engine::whatif::Question> makeNetwork(const NamedValues& values);
// The same as `--workers N` with n=N.
Result<engine::whatif::Question> makeWorkers(const NamedValues& values);

}  // namespace sonde::questions
