// Rules about the machine's resources, as the system probe samples them. Any thread.
#pragma once

#include "rules/engine/rule.h"

#include <vector>

namespace sonde::rules {

std::vector<RuleInfo> systemRules();

RuleInfo batchSize();
RuleInfo bytesOverBudget();
RuleInfo cpuBottleneck();
RuleInfo energyOverBudget();
RuleInfo gpuMemoryIncrease();
RuleInfo gpuThrottling();
RuleInfo ioBottleneck();
RuleInfo loadBalancing();
RuleInfo lowGpuUtilization();
RuleInfo memoryFragmentation();
RuleInfo memoryLeak();
RuleInfo overallSystemUsage();

}  // namespace sonde::rules
