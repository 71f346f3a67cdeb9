// The questions of `--ask` about how a rank computes. Plain functions; any thread.
#pragma once

#include "cli/whatif/named_question.h"

#include <span>

namespace sonde::cli {

std::span<const NamedQuestion> computeQuestions();

}  // namespace sonde::cli
