// The questions of `--ask` about how gradients are reduced. Plain functions; any thread.
#pragma once

#include "analysis/questions/named_question.h"

#include <span>

namespace sonde::questions {

std::span<const NamedQuestion> gradientQuestions();

}  // namespace sonde::questions
