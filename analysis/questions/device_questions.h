// The questions of `--ask` about GPUs and their peaks. Plain functions; any thread.
#pragma once

#include "analysis/questions/named_question.h"

#include <span>

namespace sonde::questions {

std::span<const NamedQuestion> deviceQuestions();

}  // namespace sonde::questions
