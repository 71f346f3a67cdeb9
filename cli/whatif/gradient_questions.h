// The questions of `--ask` about how gradients are reduced. Plain functions; any thread.
#pragma once

#include "cli/whatif/named_question.h"

#include <span>

namespace sonde::cli {

std::span<const NamedQuestion> gradientQuestions();

}  // namespace sonde::cli
