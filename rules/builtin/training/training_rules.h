// Rules about what is trained: losses and tensors. Any thread.
#pragma once

#include "rules/engine/rule.h"

#include <vector>

namespace sonde::rules {

std::vector<RuleInfo> trainingRules();

RuleInfo allZero();
RuleInfo checkInputImages();
RuleInfo classImbalance();
RuleInfo confusion();
RuleInfo deadRelu();
RuleInfo divergingReplicas();
RuleInfo explodingTensor();
RuleInfo featureImportanceOverweight();
RuleInfo firstNan();
RuleInfo lossNotDecreasing();
RuleInfo nlpSequenceRatio();
RuleInfo overfit();
RuleInfo overtraining();
RuleInfo poorWeightInitialization();
RuleInfo saturatedActivation();
RuleInfo tensorVariance();
RuleInfo treeDepth();
RuleInfo unchangedTensor();
RuleInfo vanishingGradient();
RuleInfo weightUpdateRatio();

}  // namespace sonde::rules
