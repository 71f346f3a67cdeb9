// The questions of `--ask` about GPUs and their peaks. Plain functions; any thread.
#pragma once

#include "cli/whatif/named_question.h"

#include <span>

namespace sonde::cli {

std::span<const NamedQuestion> deviceQuestions();

}  // namespace sonde::cli
