#include "rules/builtin/training/training_rules.h"

namespace sonde::rules {

std::vector<RuleInfo> trainingRules() {
  return {allZero(),
          checkInputImages(),
          classImbalance(),
          confusion(),
          deadRelu(),
          divergingReplicas(),
          explodingTensor(),
          featureImportanceOverweight(),
          firstNan(),
          lossNotDecreasing(),
          nlpSequenceRatio(),
          overfit(),
          overtraining(),
          poorWeightInitialization(),
          saturatedActivation(),
          tensorVariance(),
          treeDepth(),
          unchangedTensor(),
          vanishingGradient(),
          weightUpdateRatio()};
}

}  // namespace sonde::rules
