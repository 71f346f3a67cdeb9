// The questions of `sonde whatif --ask` about work that shares a device, and about determinism.
// Plain functions.
#pragma once

#include "cli/whatif/named_question.h"

#include <span>

namespace sonde::cli {

std::span<const NamedQuestion> sharingQuestions();

}  // namespace sonde::cli
