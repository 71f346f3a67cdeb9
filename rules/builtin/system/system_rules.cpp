#include "rules/builtin/system/system_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> systemRules() {
  return {batchSize(),
          cpuBottleneck(),
          gpuMemoryIncrease(),
          gpuThrottling(),
          ioBottleneck(),
          loadBalancing(),
          lowGpuUtilization(),
          memoryLeak(),
          overallSystemUsage()};
}

}  // namespace sonde::rules
