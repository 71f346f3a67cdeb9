// Rules about how long iterations take. Any thread.
#pragma once

#include "rules/engine/rule.h"

#include <vector>

namespace sonde::rules {

std::vector<RuleInfo> timingRules();

RuleInfo dataloader();
RuleInfo iterationTimeChange();
RuleInfo maxInitializationTime();
RuleInfo overallFrameworkMetrics();
RuleInfo stalledTraining();
RuleInfo stepOutlier();

}  // namespace sonde::rules
