// The named question about another GPU. Plain functions; any thread.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "base/result.h"
#include "cli/whatif/named_values.h"

namespace sonde::cli {

// to, from, bandwidth, flops. InvalidArgument: another setting, or a value of another form.
Result<engine::whatif::Question> makeDevice(const NamedValues& values);

}  // namespace sonde::cli
