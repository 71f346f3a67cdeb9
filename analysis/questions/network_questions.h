// The questions of `--ask` about the shape of a job's network. Plain functions; any thread.
#pragma once

#include "analysis/questions/named_question.h"

#include <span>

namespace sonde::questions {

std::span<const NamedQuestion> networkQuestions();

}  // namespace sonde::questions
