#include "rules/builtin/training/training_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> trainingRules() {
  return {allZero(),
          deadRelu(),
          explodingTensor(),
          featureImportanceOverweight(),
          lossNotDecreasing(),
          overfit(),
          overtraining(),
          saturatedActivation(),
          tensorVariance(),
          treeDepth(),
          unchangedTensor(),
          vanishingGradient(),
          weightUpdateRatio()};
}

}  // namespace sonde::rules
