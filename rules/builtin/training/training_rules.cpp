#include "rules/builtin/training/training_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> trainingRules() {
  return {explodingTensor(), lossNotDecreasing()};
}

}  // namespace sonde::rules
