// The questions of `sonde whatif --ask` about work that shares a device, and about determinism.
// Plain functions.
#pragma once

#include "analysis/questions/named_question.h"

#include <span>

namespace sonde::questions {

std::span<const NamedQuestion> sharingQuestions();

}  // namespace sonde::questions
