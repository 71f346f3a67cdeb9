// Rules about what is trained: losses and tensors. Any thread.
#pragma once

#include "rules/engine/rule.h"

#include <vector>

namespace sonde::rules {

std::vector<RuleInfo> trainingRules();

RuleInfo explodingTensor();
RuleInfo lossNotDecreasing();

}  // namespace sonde::rules
