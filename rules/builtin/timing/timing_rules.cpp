#include "rules/builtin/timing/timing_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> timingRules() {
  return {dataloader(),
          iterationTimeChange(),
          maxInitializationTime(),
          overallFrameworkMetrics(),
          stalledTraining(),
          stepOutlier()};
}

}  // namespace sonde::rules
