// Rules about the recording itself: its cost, and what it missed. Any thread.
#pragma once

#include "rules/engine/rule.h"

#include <vector>

namespace sonde::rules {

std::vector<RuleInfo> recordingRules();

RuleInfo droppedData();
RuleInfo impossibleKernels();
RuleInfo recorderCost();

}  // namespace sonde::rules
