// `sonde run --on-fire`: reactions to a rule of severity error that fires while the job runs. Plain
// values; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::recorder {

struct OnFire {
  bool stop = false;
  std::vector<std::string> commands;
  std::vector<std::string> webhooks;
  std::int64_t captureNs = 0;  // record in full for that long; 0: no

  bool isEmpty() const noexcept {
    return !stop && commands.empty() && webhooks.empty() && captureNs == 0;
  }
};

// From `stop`, `exec:CMD`, `webhook:URL`, `capture` and `capture:NS`. InvalidArgument: something
// else.
Result<OnFire> parseOnFire(const std::vector<std::string>& words);

}  // namespace sonde::recorder
