// The questions of `--ask` about pipelines and parallel degrees. Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "analysis/questions/named_values.h"
#include "base/result.h"

namespace sonde::questions {

// InvalidArgument: an unknown setting, or one of another form.
Result<engine::whatif::Question> makePipeline(const NamedValues& values);
Result<engine::whatif::Question> makeDegrees(const NamedValues& values);

}  // namespace sonde::questions
