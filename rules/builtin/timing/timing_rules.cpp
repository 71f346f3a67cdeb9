#include "rules/builtin/timing/timing_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> timingRules() {
  return {stepOutlier()};
}

}  // namespace sonde::rules
