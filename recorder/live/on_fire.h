// `sonde run --on-fire`: reactions to a rule of severity error that fires while the job runs. Plain
// values; any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::recorder {

struct OnFire {
  bool stop = false;
  std::vector<std::string> commands;
  std::vector<std::string> webhooks;

  bool isEmpty() const noexcept { return !stop && commands.empty() && webhooks.empty(); }
};

// From `stop`, `exec:CMD` and `webhook:URL`. InvalidArgument: something else.
Result<OnFire> parseOnFire(const std::vector<std::string>& words);

}  // namespace sonde::recorder
