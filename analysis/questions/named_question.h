// One question of `sonde whatif --ask`. Plain values; any thread.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "analysis/questions/named_values.h"
#include "base/result.h"

namespace sonde::questions {

struct NamedQuestion {
  const char* name;
  const char* help;      // continues "the job then"
  const char* settings;  // "KEY=DEFAULT,KEY=DEFAULT"; nothing behind a "=": no default
  // InvalidArgument: a setting is missing or has another form.
  Result<engine::whatif::Question> (*make)(const NamedValues& values);
};

}  // namespace sonde::questions
