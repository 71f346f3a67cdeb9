#include "rules/builtin/system/system_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> systemRules() {
  return {batchSize(),
          bytesOverBudget(),
          cpuBottleneck(),
          energyOverBudget(),
          gpuMemoryIncrease(),
          gpuThrottling(),
          ioBottleneck(),
          loadBalancing(),
          lowGpuUtilization(),
          memoryFragmentation(),
          memoryLeak(),
          overallSystemUsage()};
}

}  // namespace sonde::rules
