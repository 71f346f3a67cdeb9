// The questions of `--ask` about how a rank computes. Plain functions; any thread.
#pragma once

#include "analysis/questions/named_question.h"

#include <span>

namespace sonde::questions {

std::span<const NamedQuestion> computeQuestions();

}  // namespace sonde::questions
