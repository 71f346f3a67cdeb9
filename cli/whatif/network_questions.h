// The questions of `--ask` about the shape of a job's network. Plain functions; any thread.
#pragma once

#include "cli/whatif/named_question.h"

#include <span>

namespace sonde::cli {

std::span<const NamedQuestion> networkQuestions();

}  // namespace sonde::cli
