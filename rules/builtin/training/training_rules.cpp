#include "rules/builtin/training/training_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> trainingRules() {
  return {allZero(),
          deadRelu(),
          explodingTensor(),
          lossNotDecreasing(),
          saturatedActivation(),
          tensorVariance(),
          unchangedTensor(),
          vanishingGradient(),
          weightUpdateRatio()};
}

}  // namespace sonde::rules
