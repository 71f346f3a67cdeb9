// The questions of `--ask` about pipelines and parallel degrees. Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "base/result.h"
#include "cli/whatif/named_values.h"

namespace sonde::cli {

// InvalidArgument: an unknown setting, or one of another form.
Result<engine::whatif::Question> makePipeline(const NamedValues& values);
Result<engine::whatif::Question> makeDegrees(const NamedValues& values);

}  // namespace sonde::cli
