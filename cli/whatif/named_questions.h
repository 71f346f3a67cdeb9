// The questions of `sonde whatif --ask`, by name. Plain functions.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "base/result.h"
#include "cli/whatif/named_values.h"

#include <string>

namespace sonde::cli {

// InvalidArgument: there is no such question, or a setting has another form.
Result<engine::whatif::Question> parseAsk(const std::string& text);

Result<engine::whatif::Question> makeAsked(const Asked& asked);

Result<engine::whatif::Question> makeNetwork(const NamedValues& values);

}  // namespace sonde::cli
