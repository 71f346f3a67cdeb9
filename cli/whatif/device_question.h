// The named questions about GPUs and their peaks. Plain functions; any thread.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "base/result.h"
#include "cli/whatif/named_values.h"

namespace sonde::cli {

// to, from, bandwidth, flops. InvalidArgument: another setting, or a value of another form.
Result<engine::whatif::Question> makeDevice(const NamedValues& values);
// density, block, from. InvalidArgument: as above, or no density.
Result<engine::whatif::Question> makeBlockSparsity(const NamedValues& values);

}  // namespace sonde::cli
